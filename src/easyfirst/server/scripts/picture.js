// The picture of a sentence, made to be worked with: words can be clicked, dragged to one another and reached with the
// keyboard. It reports what the user does, and does not depend on constraints.
//
//   picked(m)        a word was clicked, or Enter pressed on it
//   dragged(m, h)    a word was dragged to another
//   pressed(key, m)  another key was pressed on a word; returns whether it means something

class Picture {
  constructor(svg, describe, { picked, dragged, pressed }) {
    this.svg = svg;
    this.words = new Map([...svg.querySelectorAll(".word")].map((word) => [Number(word.dataset.id), word]));
    this.isRightToLeft = svg.querySelector(".form").getAttribute("direction") === "rtl";
    this.handlers = { picked, dragged, pressed };
    svg.setAttribute("role", "group");
    svg.removeAttribute("aria-labelledby");
    svg.setAttribute("aria-label", "Tree: arrow keys go from word to word, Enter chooses one");
    for (const [m, word] of this.words) this.prepare(m, word, describe(m));
    this.words.get(1).setAttribute("tabindex", 0);
    for (const arc of svg.querySelectorAll(".arc")) {
      arc.addEventListener("click", () => picked(Number(arc.dataset.modifier), true));
    }
    svg.addEventListener("pointermove", (event) => this.move(event));
    svg.addEventListener("pointerup", (event) => this.drop(event));
    svg.addEventListener("pointercancel", () => this.endDrag());
  }

  prepare(m, word, description) {
    const box = word.getBBox();
    const hit = document.createElementNS(this.svg.namespaceURI, "rect");
    for (const [key, value] of Object.entries({ x: box.x - 6, y: box.y - 3, width: box.width + 12, height: Math.max(box.height + 6, 24), rx: 4 })) {
      hit.setAttribute(key, value);
    }
    hit.setAttribute("class", "hit");
    word.prepend(hit);
    word.setAttribute("role", "button");
    word.setAttribute("tabindex", -1);
    word.setAttribute("aria-pressed", false);
    word.setAttribute("aria-label", description);
    word.addEventListener("click", () => {
      if (!this.wasDragged) this.handlers.picked(m, false);
      this.wasDragged = false;
    });
    word.addEventListener("keydown", (event) => this.key(event, m));
    word.addEventListener("pointerdown", (event) => {
      this.wasDragged = false;
      if (event.pointerType !== "touch" && event.button === 0) this.drag = { m, x: event.clientX, y: event.clientY };
    });
  }

  key(event, m) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const forward = this.isRightToLeft ? "ArrowLeft" : "ArrowRight", back = this.isRightToLeft ? "ArrowRight" : "ArrowLeft";
    const goal = { [forward]: m + 1, [back]: m - 1, Home: 1, End: this.words.size }[event.key];
    if (goal !== undefined) {
      this.focus(goal);
    } else if (event.key === "Enter" || event.key === " ") {
      this.handlers.picked(m, false);
    } else if (!this.handlers.pressed(event.key, m)) {
      return;
    }
    event.preventDefault();
  }

  focus(m) {
    const word = this.words.get(m);
    if (!word) return;
    for (const other of this.words.values()) other.setAttribute("tabindex", -1);
    word.setAttribute("tabindex", 0);
    word.focus();
  }

  // Show which word is chosen, and which can be the other end of a bracket.
  mark(m, isBracket) {
    for (const [number, word] of this.words) {
      word.classList.toggle("is-chosen", number === m);
      word.setAttribute("aria-pressed", number === m);
    }
    for (const arc of this.svg.querySelectorAll(".arc")) arc.classList.toggle("is-new", Number(arc.dataset.modifier) === m);
    this.svg.classList.toggle("spans", isBracket);
  }

  point(event) {
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    return [place.x, place.y];
  }

  move(event) {
    if (!this.drag) return;
    if (!this.drag.line) {
      if (Math.hypot(event.clientX - this.drag.x, event.clientY - this.drag.y) < 6) return;
      this.drag.line = document.createElementNS(this.svg.namespaceURI, "path");
      this.drag.line.setAttribute("class", "dragged");
      this.svg.append(this.drag.line);
      const box = this.words.get(this.drag.m).getBBox();
      this.drag.from = [box.x + box.width / 2, box.y];
      this.mark(this.drag.m, false);
    }
    const [[x, y], [toX, toY]] = [this.drag.from, this.point(event)];
    this.drag.line.setAttribute("d", `M${toX} ${toY}Q${(x + toX) / 2} ${Math.min(y, toY) - 30} ${x} ${y}`);
    const over = this.wordAt(event);
    for (const [m, word] of this.words) word.classList.toggle("is-goal", m === over && m !== this.drag.m);
  }

  drop(event) {
    const drag = this.drag, over = this.wordAt(event);
    this.endDrag();
    if (!drag || !drag.line) return;
    this.wasDragged = true; // the click that follows is no choice
    if (over !== null && over !== drag.m) this.handlers.dragged(drag.m, over);
    else this.mark(null, false);
  }

  endDrag() {
    this.drag?.line?.remove();
    this.drag = null;
    for (const word of this.words.values()) word.classList.remove("is-goal");
  }

  wordAt(event) {
    const word = document.elementsFromPoint(event.clientX, event.clientY).map((found) => found.closest(".word")).find(Boolean);
    return word && this.svg.contains(word) ? Number(word.dataset.id) : null;
  }
}
