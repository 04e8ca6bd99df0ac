// The constraints on one sentence, in the form in which POST /parse takes them, and their history. Nothing here changes
// a value: every function returns new constraints.

const FREE = Object.freeze({ heads: {}, relations: {}, forbidden: [], brackets: [] });

function fixHead(known, m, head) {
  const forbidden = known.forbidden.filter(([h, modifier, relation]) => h !== head || modifier !== m || relation);
  return { ...known, heads: { ...known.heads, [m]: head }, forbidden };
}

function fixRelation(known, m, relation) {
  return { ...known, relations: { ...known.relations, [m]: relation } };
}

// Forbid an arc, and release it if it was fixed.
function forbidArc(known, m, head) {
  const free = known.heads[m] === head ? release(known, m) : known;
  const others = free.forbidden.filter(([h, modifier]) => h !== head || modifier !== m);
  return { ...free, forbidden: [...others, [head, m]] };
}

function addBracket(known, one, other) {
  const [first, last] = [Math.min(one, other), Math.max(one, other)];
  const others = known.brackets.filter(([a, b]) => a !== first || b !== last);
  return { ...known, brackets: [...others, [first, last]] };
}

// Remove all that was said about the arc of a word.
function release(known, m) {
  const { [m]: head, ...heads } = known.heads;
  const { [m]: relation, ...relations } = known.relations;
  return { ...known, heads, relations, forbidden: known.forbidden.filter(([, modifier]) => modifier !== m) };
}

// Every constraint alone: what it says, and the constraints without it.
function eachConstraint(known, all, name) {
  const drop = (key, value) => ({ ...all, [key]: all[key].filter((other) => String(other) !== String(value)) });
  const without = (key, m) => ({ ...all, [key]: Object.fromEntries(Object.entries(all[key]).filter(([k]) => k !== m)) });
  return [
    ...Object.entries(known.heads).map(([m, head]) => ({
      text: head === 0 ? `${name(m)} is the root` : `the head of ${name(m)} is ${name(head)}`, rest: without("heads", m) })),
    ...Object.entries(known.relations).map(([m, relation]) => ({
      text: `${name(m)} has the relation ${relation}`, rest: without("relations", m) })),
    ...known.forbidden.map((arc) => ({
      text: `the head of ${name(arc[1])} is not ${arc[0] === 0 ? "the root" : name(arc[0])}`, rest: drop("forbidden", arc) })),
    ...known.brackets.map((bracket) => ({
      text: `${name(bracket[0])} to ${name(bracket[1])} are a bracket`, rest: drop("brackets", bracket) })),
  ];
}

class History {
  constructor(known) {
    this.states = [{ ...FREE, ...known }];
    this.at = 0;
  }

  get now() {
    return this.states[this.at];
  }

  // Add a state after this one; what was undone is forgotten.
  push(known) {
    this.states = [...this.states.slice(0, this.at + 1), known];
    this.at += 1;
  }

  // Return the state so many steps from here, if there is one.
  peek(steps) {
    return this.states[this.at + steps];
  }
}
