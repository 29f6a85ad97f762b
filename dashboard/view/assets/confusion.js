// The confusion matrix: a table of plain buttons, so that keys and screen readers need no help; arrows walk the cells.

import { make, mountWith } from "./base.js";
import { ARROWS } from "./stage.js";

class ConfusionView {
  constructor(root) {
    this.table = make("table", "confusion");
    root.append(this.table);
    this.draws = 0;
    this.table.addEventListener("keydown", (event) => this.walk(event));
  }

  update(data) {
    const text = JSON.stringify([data.rows, data.columns, data.counts, data.down, data.across]);
    if (text !== this.text) {
      Object.assign(this, { text, data });
      this.table.classList.toggle("many", data.columns.length > 4); // names stand upright
      this.buttons = data.counts.map((row, r) => row.map((count, c) => this.cell(r, c, count)));
      this.table.replaceChildren(this.head(), this.body());
      this.draws++;
    }
    const pressed = data.chosen ?? [-1, -1];
    this.buttons.forEach((row, r) => row.forEach((button, c) => {
      button.setAttribute("aria-pressed", String(pressed[0] === r && pressed[1] === c));
      button.tabIndex = (data.chosen ? pressed[0] === r && pressed[1] === c : r + c === 0) ? 0 : -1; // one stop for Tab
    }));
  }

  head() {
    const head = make("thead"), above = make("tr"), names = make("tr");
    const title = make("th", "across", this.data.across);
    title.colSpan = this.data.columns.length;
    above.append(make("td"), title);
    names.append(make("td", "down", this.data.down), ...this.data.columns.map(([name, colour]) => this.name(name, colour, "col")));
    head.append(above, names);
    return head;
  }

  body() {
    const body = make("tbody");
    this.buttons.forEach((row, r) => {
      const line = make("tr");
      line.append(this.name(...this.data.rows[r], "row"), ...row.map((button) => {
        const held = make("td");
        held.append(button);
        return held;
      }));
      body.append(line);
    });
    return body;
  }

  name(text, colour, scope) {
    const cell = make("th", scope), dot = make("span", "swatch"), words = make("span", "", text);
    cell.scope = scope;
    cell.title = text;
    dot.style.background = colour;
    cell.append(...(colour ? [dot, words] : [words]));
    return cell;
  }

  cell(r, c, count) {
    const { rows, columns, down, across, diagonal, counts } = this.data, button = make("button", "cell", count.toLocaleString("en"));
    const total = counts[r].reduce((sum, each) => sum + each, 0);
    button.type = "button";
    button.classList.toggle("right", diagonal && r === c);
    button.classList.toggle("none", count === 0);
    button.style.setProperty("--share", `${Math.round((100 * count) / Math.max(total, 1))}%`);
    const which = `${down ? `${down} ${rows[r][0]}, ` : ""}${across} ${columns[c][0]}`;
    button.setAttribute("aria-label", `${which}: ${count}`);
    button.title = `${which}: ${count} of ${total}`;
    button.addEventListener("click", () => this.send(r * columns.length + c));
    return button;
  }

  walk(event) {
    const step = ARROWS[event.key];
    if (!step) return;
    const r = this.buttons.findIndex((row) => row.includes(event.target)), c = this.buttons[r]?.indexOf(event.target);
    const next = this.buttons[r + step[1]]?.[c + step[0]];
    event.preventDefault();
    next?.focus();
  }

  destroy() {}
}

export default mountWith(ConfusionView);
