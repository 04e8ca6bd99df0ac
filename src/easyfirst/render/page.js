// The step-through of every sentence on the page. All it needs to know stands in the page: the rows of a sentence's
// table are its steps, in order. At step k the first k arcs are there, and the pending list is as it was when the k-th
// was chosen. An arc that was moved after parsing appears when all is done.
"use strict";
for (const section of document.querySelectorAll("section[data-steps]")) {
  const rows = [...section.querySelectorAll("tbody tr")];
  const items = new Map([...section.querySelectorAll(".pending li")].map((item) => [item.dataset.id, item]));
  const words = new Map([...section.querySelectorAll("svg .word")].map((word) => [word.dataset.id, word]));
  const arcs = new Map([...section.querySelectorAll("svg .arc")].map((arc) => [arc.dataset.modifier, arc]));
  const moved = new Set(rows.filter((row) => row.dataset.moved).map((row) => row.dataset.modifier));
  const stepper = section.querySelector(".stepper");
  const slider = stepper.querySelector("input");
  const now = stepper.querySelector(".now");
  const others = stepper.querySelector(".others"); // only if the page knows them
  const [back, forward] = stepper.querySelectorAll("button");
  const last = rows.length + 1; // when all is done

  const show = (step) => {
    const chosen = step >= 1 && step < last ? rows[step - 1].dataset : {};
    const done = new Set(rows.slice(0, step).map((row) => row.dataset.modifier));
    for (const [id, item] of items) {
      const isHead = id === chosen.head, isModifier = id === chosen.modifier;
      item.hidden = done.has(id) && !isModifier;
      item.querySelector(".role").textContent = isHead ? "head" : isModifier ? "modifier" : "";
      for (const shown of [item, words.get(id)]) {
        shown.classList.toggle("is-head", isHead);
        shown.classList.toggle("is-modifier", isModifier);
        shown.classList.toggle("is-gone", step < last && done.has(id) && !isModifier);
      }
    }
    for (const [modifier, arc] of arcs) {
      const isAttachment = arc.dataset.head !== "0";
      const isLate = !isAttachment || moved.has(modifier);
      arc.toggleAttribute("hidden", isLate ? step < last : !done.has(modifier));
      arc.classList.toggle("is-new", modifier === chosen.modifier);
    }
    const text = step === 0 ? stepper.dataset.start : step === last ? stepper.dataset.end : rows[step - 1].dataset.text;
    now.textContent = text;
    if (others) {
      const found = step >= 1 && step < last ? [...rows[step - 1].querySelectorAll("li")] : [];
      others.replaceChildren(...found.map((item) => item.cloneNode(true)));
      others.hidden = others.previousElementSibling.hidden = found.length === 0;
    }
    slider.value = step;
    slider.setAttribute("aria-valuetext", text);
    back.disabled = step === 0;
    forward.disabled = step === last;
  };

  slider.addEventListener("input", () => show(Number(slider.value)));
  back.addEventListener("click", () => show(Math.max(Number(slider.value) - 1, 0)));
  forward.addEventListener("click", () => show(Math.min(Number(slider.value) + 1, last)));
  slider.max = last;
  show(last);
  stepper.hidden = false;
}
