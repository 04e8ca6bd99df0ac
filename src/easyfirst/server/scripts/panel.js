// What can be done with the chosen word: the alternatives of its arc, its relation, and the buttons.

function perCent(probability) {
  if (probability === null || probability === undefined) return "";
  const rounded = Math.min(Math.max(Math.round(100 * probability), probability === 0 ? 0 : 1), probability === 1 ? 100 : 99);
  return `${rounded} %`;
}

function button(text, act, attributes = {}) {
  const found = make("button", { type: "button", ...attributes }, text);
  found.addEventListener("click", act);
  return found;
}

// Draw the panel of word m of an editor.
function drawPanel(editor, m) {
  const word = editor.word(m), known = editor.known;
  const name = (id) => editor.name(id);
  const arc = (head, relation) => (head === 0 ? `${relation}, without a head` : `${relation} of ${name(head)}`);
  const isFixed = m in known.heads || m in known.relations;
  const facts = [arc(word.head, word.relation), perCent(word.label_confidence), isFixed ? "fixed by you" : ""];
  const title = make("p", { class: "chosen" }, make("b", {}, make("bdi", {}, word.form)), ` ${facts.filter(Boolean).join(" · ")}`);
  const others = (editor.sentence.alternatives?.[m - 1] ?? []).slice(1);
  const choices = make("ul", { class: "choices", "aria-label": `Alternatives for ${word.form}` });
  for (const other of others) {
    const take = () => editor.take(m, other);
    choices.append(make("li", {}, button(`${arc(other.head, other.relation)} ${perCent(other.probability)}`.trim(), take)));
  }
  const select = make("select", { "aria-label": `Relation of ${word.form}`, class: "relation" });
  const relations = editor.relations.includes(word.relation) ? editor.relations : [word.relation, ...editor.relations];
  for (const relation of [...relations].sort()) {
    select.append(make("option", { value: relation, selected: relation === word.relation }, relation));
  }
  select.addEventListener("change", () => editor.apply(fixRelation(known, m, select.value), `${word.form} is ${select.value}.`));
  const buttons = [
    button("Fix as it is", () => editor.fix(m)),
    button("Not this arc", () => editor.forbid(m)),
    word.head === 0 ? null : button("Make it the root", () => editor.attach(m, 0)),
    button("Bracket from here", () => editor.startBracket(m)),
    isFixed || known.forbidden.some(([, modifier]) => modifier === m) ? button("Release", () => editor.release(m)) : null,
  ];
  const label = make("label", { class: "controls" }, "Relation ", select);
  return make("div", { class: "panel", role: "group", "aria-label": `Word ${m}: ${word.form}` },
    title, others.length ? choices : null, make("div", { class: "controls" }, label, ...buttons.filter(Boolean)));
}
