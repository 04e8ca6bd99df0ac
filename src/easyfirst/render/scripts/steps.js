// The step-through of a sentence. All it needs to know stands in the page: the rows of a sentence's table are its steps,
// in order. At step k the first k arcs are there, and the pending list is as it was when the k-th was chosen. An arc
// that was moved after parsing appears when all is done. The controls are made when the steps are unfolded, so that a
// page with thousands of sentences costs nothing.

function quoted(form) {
  return `“\u2068${form}\u2069”`; // isolated from the writing direction around it
}

function make(name, attributes = {}, ...children) {
  const found = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) found.setAttribute(key, value === true ? "" : value);
  }
  found.append(...children.filter((child) => child !== null));
  return found;
}

class Stepper {
  constructor(section) {
    this.rows = [...section.querySelectorAll(".steps tbody tr")];
    const byId = (selector, key) =>
      new Map([...section.querySelectorAll(selector)].map((found) => [found.dataset[key], found]));
    this.words = byId("svg .word", "id");
    this.arcs = byId("svg .arc", "modifier");
    this.moved = new Set(this.rows.filter((row) => row.dataset.moved).map((row) => row.dataset.modifier));
    this.last = this.rows.length + 1; // when all is done
    this.items = new Map();
    const table = section.querySelector(".steps .scrolled");
    section.querySelector(".steps .legend").after(this.build(section));
    const all = make("details", {}, make("summary", {}, "All steps"));
    table.before(all);
    all.append(table);
    this.show(this.last);
  }

  form(id) {
    return this.words.get(id).querySelector(".form").textContent;
  }

  build(section) {
    const n = section.getAttribute("aria-labelledby").replace("name-", "");
    const [slider, pending, others] = ["step", "pending", "others"].map((part) => `${part}-${n}`);
    this.slider = make("input", { type: "range", id: slider, min: 0, max: this.last, step: 1, autocomplete: "off" });
    this.back = make("button", { type: "button" }, "Back");
    this.forward = make("button", { type: "button" }, "Forward");
    this.now = make("p", { class: "now", "aria-live": "polite" });
    this.list = make("ol", { class: "pending", "aria-labelledby": pending, dir: section.querySelector("[dir]").dir });
    for (const id of this.words.keys()) {
      const item = make("li", { "data-id": id }, make("bdi", {}, this.form(id)), " ", make("span", { class: "role" }));
      this.items.set(id, item);
      this.list.append(item);
    }
    const parts = [
      make("div", { class: "controls" }, make("label", { for: slider }, "Step"), this.back, this.slider, this.forward),
      this.now, make("p", { class: "note", id: pending }, "Pending list:"), this.list,
    ];
    if (section.querySelector(".steps td ul, .steps th:nth-child(6)")) { // the page knows the runners-up
      this.others = make("ul", { class: "others", "aria-labelledby": others });
      parts.push(make("p", { class: "note", id: others }, "Chosen, and runners-up:"), this.others);
    }
    this.slider.addEventListener("input", () => this.show(Number(this.slider.value)));
    this.back.addEventListener("click", () => this.show(Math.max(Number(this.slider.value) - 1, 0)));
    this.forward.addEventListener("click", () => this.show(Math.min(Number(this.slider.value) + 1, this.last)));
    return make("div", { class: "stepper" }, ...parts);
  }

  text(step) {
    const n = this.rows.length;
    if (step === 0) return `Start: all ${this.words.size} words are pending.`;
    if (step === this.last) {
      const roots = [...this.words.keys()].filter((id) => !this.rows.some((row) => row.dataset.modifier === id));
      const left = roots.length === 1 ? `${quoted(this.form(roots[0]))} is left: it is the root.` : `${roots.length} words are left.`;
      return `Done after ${n} ${n === 1 ? "step" : "steps"}. ${left}`;
    }
    const { modifier, head, moved } = this.rows[step - 1].dataset;
    const [, , relation, , confidence] = [...this.rows[step - 1].cells].map((cell) => cell.textContent);
    const sure = confidence && confidence.endsWith("%") ? `, confidence ${confidence}.` : ".";
    const later = moved ? ` The arc was moved to ${quoted(this.form(moved))} at the end.` : "";
    const arc = `${quoted(this.form(modifier))} becomes ${relation || "modifier"} of ${quoted(this.form(head))}`;
    return `Step ${step} of ${n}: ${arc}${sure}${later}`;
  }

  show(step) {
    const chosen = step >= 1 && step < this.last ? this.rows[step - 1].dataset : {};
    const done = new Set(this.rows.slice(0, step).map((row) => row.dataset.modifier));
    for (const [id, item] of this.items) {
      const isHead = id === chosen.head, isModifier = id === chosen.modifier;
      item.hidden = done.has(id) && !isModifier;
      item.querySelector(".role").textContent = isHead ? "head" : isModifier ? "modifier" : "";
      for (const shown of [item, this.words.get(id)]) {
        shown.classList.toggle("is-head", isHead);
        shown.classList.toggle("is-modifier", isModifier);
        shown.classList.toggle("is-gone", step < this.last && done.has(id) && !isModifier);
      }
    }
    for (const [modifier, arc] of this.arcs) {
      const isLate = arc.dataset.head === "0" || this.moved.has(modifier);
      arc.toggleAttribute("hidden", isLate ? step < this.last : !done.has(modifier));
      arc.classList.toggle("is-new", modifier === chosen.modifier);
    }
    const text = this.text(step);
    this.now.textContent = text;
    if (this.others) {
      const found = step >= 1 && step < this.last ? [...this.rows[step - 1].querySelectorAll("li")] : [];
      this.others.replaceChildren(...found.map((item) => item.cloneNode(true)));
      this.others.hidden = this.others.previousElementSibling.hidden = found.length === 0;
    }
    this.slider.value = step;
    this.slider.setAttribute("aria-valuetext", text);
    this.back.disabled = step === 0;
    this.forward.disabled = step === this.last;
  }
}

// Make the controls of a section when its steps are unfolded; folding them shows the whole tree again.
function stepThrough(section) {
  const steps = section.querySelector("details.steps");
  let stepper = null;
  const changed = () => {
    if (steps.open && stepper === null) stepper = new Stepper(section);
    if (!steps.open && stepper !== null) stepper.show(stepper.last);
  };
  steps.addEventListener("toggle", changed);
  changed();
}

for (const section of document.querySelectorAll("section[data-steps]")) stepThrough(section);
