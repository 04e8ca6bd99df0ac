// Switches for all pictures of a page: tags, arcs of punctuation, and the numbers of steps. They only hide what is there.

function addSwitches(place, names) {
  const texts = { tags: "Tags", punctuation: "Punctuation", numbers: "Step numbers" };
  for (const name of names) {
    const box = make("input", { type: "checkbox", checked: true, autocomplete: "off" });
    box.addEventListener("change", () => document.body.classList.toggle(`hides-${name}`, !box.checked));
    place.append(make("label", { class: "switch" }, box, ` ${texts[name]}`));
  }
}

for (const place of document.querySelectorAll("[data-switches]")) addSwitches(place, place.dataset.switches.split(" "));
