// An editor that leads through the words of a sentence: the doubtful ones first, in the order in which the parser decided
// them. The user says of each word whether its arc is right. What was said is kept until all words were looked at, or one
// is corrected; then the parser completes the tree with right arcs as constraints and wrong ones forbidden, and the walk
// goes on with the words that are still open. This order needs the fewest corrections (bench/results/annotation.md).

const WALK_KEYS = [
  ["f", "the arc is right"], ["x", "the head is wrong"], ["l", "only the relation is wrong"],
  ["1 … 5", "take an alternative"], ["← →, Enter", "go to the right head, and take it"], ["0", "make the word the root"],
  ["r", "choose the relation"], ["Backspace", "forget what was said about the word"], ["n", "next word"],
  ["a", "accept the tree"], ["s", "skip the sentence"], ["p", "previous sentence"], ["u, Ctrl+Z", "undo"],
  ["y, Ctrl+Y", "redo"], ["b", "begin a bracket, then Enter on its last word"], ["Esc", "choose nothing"],
];
const MARKS = { right: "is right", wrong: "has another head", label: "has another relation" };

class Walk extends Editor {
  constructor(host, sentence, options) {
    super(host, sentence, options);
    const keys = WALK_KEYS.map(([key, what]) => make("div", {}, make("dt", {}, key), make("dd", {}, what)));
    this.help.querySelector(".keys").replaceChildren(...keys);
    const say = (text, kind, key) => button(text, () => this.chosen && this.mark(this.chosen, kind), { "aria-keyshortcuts": key });
    this.bar.querySelector(".accept")?.after(
      say("Right", "right", "f"), say("Wrong head", "wrong", "x"), say("Wrong relation", "label", "l"));
    this.first = sentence.words.map(({ head, relation }) => [head, relation]); // to tell corrections from confirmations
  }

  draw(sentence) {
    super.draw(sentence);
    this.marks = new Map(); // of words that were looked at since the parser was asked: "right", "wrong" or "label"
    for (const { id } of sentence.words) if (this.isSettled(id)) this.picture.words.get(id).classList.add("is-settled");
  }

  choose(m) {
    super.choose(m);
    for (const [i, choice] of [...(this.panel?.querySelectorAll(".choices button") ?? [])].entries()) {
      choice.prepend(make("kbd", {}, `${i + 1}`), " ");
    }
  }

  isSettled(m) {
    return m in this.known.heads && m in this.known.relations;
  }

  // The words that are still to be looked at, in this order.
  open() {
    const isDoubtful = ({ label_confidence }) => label_confidence !== null && label_confidence < DOUBT;
    const step = (word) => word.step ?? Infinity; // the root is decided last
    return this.sentence.words
      .filter(({ id }) => !this.isSettled(id) && !this.marks.has(id))
      .sort((one, other) => isDoubtful(other) - isDoubtful(one) || step(one) - step(other));
  }

  // Go to the next word; what has just been done is said before the question.
  go(done = "") {
    const words = this.open();
    if (words.length === 0) {
      this.choose(null);
      this.say(`${done} All words were looked at: press a to accept the tree.`.trim());
      return;
    }
    const { id, label_confidence } = words[0];
    this.choose(id);
    this.picture.focus(id);
    const left = words.length === 1 ? "the last word" : `${words.length} words left`;
    this.say(`${done} Is ${this.name(id)} right? ${[perCent(label_confidence), left].filter(Boolean).join(", ")}.`.trim());
  }

  nextDoubtful() {
    const words = this.open();
    if (words.length > 1 && words[0].id === this.chosen) words.push(words.shift());
    if (words.length === 0) return this.go();
    this.choose(words[0].id);
    return this.picture.focus(words[0].id);
  }

  // Say of a word whether its arc is right, and go on.
  mark(m, kind) {
    this.marks.set(m, kind);
    const { classList } = this.picture.words.get(m);
    for (const other of Object.keys(MARKS)) classList.toggle(`is-${other}`, other === kind);
    if (this.open().length === 0 && this.hasWrong()) this.apply(this.history.now, "The parser tried again.");
    else this.go();
  }

  hasWrong() {
    return [...this.marks.values()].some((kind) => kind !== "right");
  }

  // Return constraints with what was said of words.
  withMarks(known) {
    for (const [m, kind] of this.marks) {
      const { head, relation } = this.word(m);
      const isTouched = known.heads[m] !== this.history.now.heads[m] || known.relations[m] !== this.history.now.relations[m];
      if (isTouched) continue; // it was corrected after all
      if (kind === "wrong") known = forbidArc(known, m, head);
      else known = fixHead(known, m, head);
      if (kind === "right") known = fixRelation(known, m, relation);
      if (kind === "label") known = { ...known, forbidden: [...known.forbidden, [head, m, relation]] };
    }
    return known;
  }

  // A correction gives a word its head; the relation that it had is open again.
  attach(m, head) {
    const { [m]: relation, ...relations } = this.known.relations;
    this.known = { ...this.known, relations };
    return super.attach(m, head);
  }

  async apply(known, what, move = null) {
    const asked = move === null ? this.withMarks(known) : known;
    await super.apply(asked, what, move);
    if (this.problem.hidden && !this.host.hasAttribute("aria-busy")) this.go(what === null ? "" : this.status.textContent);
  }

  press(key, m) {
    const alternative = /^[1-9]$/.test(key) && this.sentence.alternatives?.[m - 1]?.[Number(key)];
    if (alternative) {
      this.take(m, alternative);
    } else if (key === "f" || key === "x" || key === "l") {
      this.mark(m, { f: "right", x: "wrong", l: "label" }[key]);
    } else if (key === "Backspace" && this.marks.delete(m)) {
      this.picture.words.get(m).classList.remove(...Object.keys(MARKS).map((kind) => `is-${kind}`));
    } else {
      return super.press(key, m);
    }
    return true;
  }

  accept() {
    if (this.host.hasAttribute("aria-busy")) return null; // the tree on the screen is not the last one
    if (this.hasWrong()) return this.apply(this.history.now, "Some arcs were said to be wrong, so the parser tried again.");
    const known = this.withMarks(this.history.now);
    return this.accepted(this.sentence, known);
  }

  // How each confirmed arc was confirmed, under some constraints.
  checks(known) {
    const found = {};
    for (const { id, head, relation } of this.sentence.words) {
      if (!(id in known.heads) && !(id in known.relations)) continue;
      const [firstHead, firstRelation] = this.first[id - 1];
      found[id] = head === firstHead && relation === firstRelation ? "seen" : "corrected";
    }
    return found;
  }
}
