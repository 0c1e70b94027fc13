// A terminal's screen: cursor movement, scroll regions, the alternate screen. It makes no elements.

import { applyColours, safeLink } from "./terminal.js";

const TAB = 8;
const MAX_PENDING = 4096;
const MAX_SIZE = 1000;
const PLAIN = Object.freeze({});
const WIDE = /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const JOINED = /[\p{Mn}\p{Me}\u200d\ufe00-\ufe0f]/u;
/** The line-drawing characters, from '`' on. */
const LINES = "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·";

// CSI, OSC, other strings, character sets, other escapes. Each must have its end.
const SEQUENCE =
  /\x1b\[([0-?]*)([ -/]*)([@-~])|\x1b\]([^\x07\x1b]*)(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\|\x1b([()])(.)|\x1b[ -/]*([0-OQ-WYZ\\`-~])/suy;

export class Screen {
  constructor(columns, rows) {
    this.columns = clamp(columns, 1, MAX_SIZE);
    this.rows = clamp(rows, 1, MAX_SIZE);
    this.reset();
  }

  reset() {
    this.grid = blankGrid(this.columns, this.rows);
    this.other = undefined;
    this.pending = "";
    this.saved = undefined;
    this.hidden = false;
    this.wraps = true;
    this.inserts = false;
    this.drawing = { "(": false, ")": false, shifted: false };
    this.style = PLAIN;
    this.last = " ";
    this.setRegion(0, this.rows - 1);
  }

  /** Moves to the beginning after a change of the scroll region. */
  setRegion(top, bottom) {
    [this.top, this.bottom] = [top, bottom];
    this.moveTo(0, 0);
  }

  resize(columns, rows) {
    columns = clamp(columns, 1, MAX_SIZE);
    rows = clamp(rows, 1, MAX_SIZE);
    const fit = (grid, cut) => {
      const lines = grid.slice(cut, cut + rows).map((line) => {
        const fitted = line.slice(0, columns);
        while (fitted.length < columns) fitted.push(blank());
        return fitted;
      });
      while (lines.length < rows) lines.push(blankLine(columns));
      return lines;
    };
    // The line of the cursor stays visible.
    const cut = Math.max(0, this.row - rows + 1);
    this.grid = fit(this.grid, cut);
    if (this.other) this.other = fit(this.other, 0);
    [this.columns, this.rows] = [columns, rows];
    [this.top, this.bottom] = [0, rows - 1];
    this.moveTo(this.row - cut, this.column);
  }

  write(text) {
    text = this.pending + text;
    this.pending = "";
    for (let index = 0; index < text.length; ) {
      if (text[index] === "\x1b") {
        SEQUENCE.lastIndex = index;
        const found = SEQUENCE.exec(text);
        if (!found && text.length - index < MAX_PENDING) {
          this.pending = text.slice(index);
          return;
        }
        index += found?.[0].length ?? 1;
        if (found) this.escape(found);
        continue;
      }
      const character = String.fromCodePoint(text.codePointAt(index));
      index += character.length;
      this.take(character);
    }
  }

  take(character) {
    const code = character.codePointAt(0);
    if (character === "\r") this.moveTo(this.row, 0);
    else if (character === "\b") this.moveTo(this.row, Math.min(this.column, this.columns - 1) - 1);
    else if (character === "\t") this.moveTo(this.row, (Math.floor(this.column / TAB) + 1) * TAB);
    else if (character === "\n" || character === "\v" || character === "\f") this.feed();
    else if (code === 0x0e || code === 0x0f) this.drawing.shifted = code === 0x0e;
    else if (code >= 0x20 && !(code >= 0x7f && code < 0xa0)) this.put(character);
  }

  put(character) {
    if (JOINED.test(character)) {
      const cell = this.grid[this.row][Math.max(0, this.column - 1)];
      if (cell.text.length < 16) cell.text += character;
      return;
    }
    const isDrawn = this.drawing[this.drawing.shifted ? ")" : "("];
    if (isDrawn && character >= "`" && character <= "~") character = LINES[character.charCodeAt(0) - 96];
    const width = WIDE.test(character) ? 2 : 1;
    if (this.column + width > this.columns) {
      if (this.wraps) {
        this.column = 0;
        this.feed();
      } else this.column = Math.max(0, this.columns - width);
    }
    const line = this.grid[this.row];
    if (this.inserts) {
      for (let count = 0; count < width; count++) line.splice(this.column, 0, blank());
      line.length = this.columns;
    }
    line[this.column] = { text: character, style: this.style };
    if (width === 2 && this.column + 1 < this.columns) line[this.column + 1] = { text: "", style: this.style };
    // Beyond the last column, the next character begins a new line.
    this.column += width;
    this.last = character;
  }

  moveTo(row, column) {
    this.row = clamp(row, 0, this.rows - 1);
    this.column = clamp(column, 0, this.columns - 1);
  }

  /** Moves up or down, within the scroll region if the cursor is in it. */
  moveBy(lines) {
    const isInside = this.row >= this.top && this.row <= this.bottom;
    const [first, last] = isInside ? [this.top, this.bottom] : [0, this.rows - 1];
    this.moveTo(clamp(this.row + lines, first, last), this.column);
  }

  feed() {
    if (this.row === this.bottom) this.scroll(this.top, this.bottom, 1);
    else this.row = Math.min(this.row + 1, this.rows - 1);
  }

  /** Moves lines up, or down if the count is negative. */
  scroll(top, bottom, count) {
    const height = bottom - top + 1;
    const lines = Math.min(Math.abs(count), height);
    const fresh = Array.from({ length: lines }, () => this.erasedLine());
    if (count > 0) {
      this.grid.splice(top, lines);
      this.grid.splice(bottom - lines + 1, 0, ...fresh);
    } else {
      this.grid.splice(bottom - lines + 1, lines);
      this.grid.splice(top, 0, ...fresh);
    }
  }

  erased() {
    return { text: " ", style: this.style.bg === undefined ? PLAIN : { bg: this.style.bg } };
  }

  erasedLine() {
    return Array.from({ length: this.columns }, () => this.erased());
  }

  erase(row, from, to) {
    for (let column = from; column < Math.min(to, this.columns); column++) this.grid[row][column] = this.erased();
  }

  escape([, parameters, between, final, operatingSystem, set, charset, simple]) {
    if (final !== undefined) {
      if (between === "") this.control(parameters, final);
      else if (between === "!" && final === "p") this.reset();
    } else if (operatingSystem?.startsWith("8;")) {
      const link = safeLink(operatingSystem.slice(operatingSystem.indexOf(";", 2) + 1));
      this.style = { ...this.style, link };
    } else if (set) this.drawing[set] = charset === "0";
    else if (simple === "7") this.save();
    else if (simple === "8") this.restore();
    else if (simple === "D") this.feed();
    else if (simple === "E") [this.column] = [0, this.feed()];
    else if (simple === "M") {
      if (this.row === this.top) this.scroll(this.top, this.bottom, -1);
      else this.moveTo(this.row - 1, this.column);
    } else if (simple === "c") this.reset();
  }

  control(text, final) {
    if (text.startsWith("?")) {
      if (final === "h" || final === "l") for (const mode of text.slice(1).split(";")) this.setMode(Number(mode), final === "h");
      return;
    }
    if (/[<=>]/.test(text)) return;
    const numbers = text.split(";").map((number) => parseInt(number, 10) || 0);
    const count = Math.min(Math.max(1, numbers[0]), MAX_SIZE);
    const [row, column] = [this.row, Math.min(this.column, this.columns - 1)];
    if (final === "m") this.style = applyColours(this.style, text);
    else if (final === "A") this.moveBy(-count);
    else if (final === "B" || final === "e") this.moveBy(count);
    else if (final === "C" || final === "a") this.moveTo(row, column + count);
    else if (final === "D") this.moveTo(row, column - count);
    else if (final === "E") [this.column] = [0, this.moveBy(count)];
    else if (final === "F") [this.column] = [0, this.moveBy(-count)];
    else if (final === "G" || final === "`") this.moveTo(row, count - 1);
    else if (final === "d") this.moveTo(count - 1, column);
    else if (final === "H" || final === "f") this.moveTo(count - 1, Math.max(1, numbers[1] ?? 1) - 1);
    else if (final === "J") this.eraseScreen(numbers[0], row, column);
    else if (final === "K") this.eraseLine(numbers[0], row, column);
    else if (final === "X") this.erase(row, column, column + count);
    else if (final === "P") this.shift(row, column, -count);
    else if (final === "@") this.shift(row, column, count);
    else if (final === "L") this.insertLines(-count);
    else if (final === "M") this.insertLines(count);
    else if (final === "S") this.scroll(this.top, this.bottom, count);
    else if (final === "T") this.scroll(this.top, this.bottom, -count);
    else if (final === "b") for (let again = 0; again < count; again++) this.put(this.last);
    else if (final === "r") this.region(numbers);
    else if (final === "s") this.save();
    else if (final === "u") this.restore();
    else if ((final === "h" || final === "l") && numbers[0] === 4) this.inserts = final === "h";
  }

  eraseScreen(mode, row, column) {
    if (mode === 0) this.erase(row, column, this.columns);
    if (mode === 1) this.erase(row, 0, column + 1);
    for (let line = 0; line < this.rows; line++) {
      if (mode === 2 || (mode === 0 && line > row) || (mode === 1 && line < row)) this.erase(line, 0, this.columns);
    }
  }

  eraseLine(mode, row, column) {
    if (mode === 0) this.erase(row, column, this.columns);
    else if (mode === 1) this.erase(row, 0, column + 1);
    else if (mode === 2) this.erase(row, 0, this.columns);
  }

  /** Inserts or deletes characters. */
  shift(row, column, count) {
    const line = this.grid[row];
    const cells = Array.from({ length: Math.min(Math.abs(count), this.columns - column) }, () => this.erased());
    if (count > 0) {
      line.splice(column, 0, ...cells);
      line.length = this.columns;
    } else {
      line.splice(column, cells.length);
      line.push(...cells);
    }
  }

  insertLines(count) {
    if (this.row < this.top || this.row > this.bottom) return;
    this.scroll(this.row, this.bottom, count);
    this.column = 0;
  }

  region(numbers) {
    const top = Math.max(1, numbers[0]) - 1;
    const bottom = Math.min(numbers[1] || this.rows, this.rows) - 1;
    if (top < bottom) this.setRegion(top, bottom);
  }

  setMode(mode, isSet) {
    if (mode === 25) this.hidden = !isSet;
    else if (mode === 7) this.wraps = isSet;
    else if (mode === 47 || mode === 1047 || mode === 1049) this.alternate(isSet, mode === 1049);
  }

  alternate(isSet, withCursor) {
    if (isSet === (this.other !== undefined)) return;
    if (isSet) {
      if (withCursor) this.save();
      this.other = this.grid;
      this.grid = blankGrid(this.columns, this.rows);
    } else {
      this.grid = this.other;
      this.other = undefined;
      if (withCursor) this.restore();
    }
  }

  save() {
    this.saved = { row: this.row, column: this.column, style: this.style };
  }

  restore() {
    const { row, column, style } = this.saved ?? { row: 0, column: 0, style: PLAIN };
    this.style = style;
    this.moveTo(row, column);
  }

  /** The lines as cells, with the cursor inverse. */
  lines() {
    return this.grid.map((line, row) => {
      const cells = line.filter((cell) => cell.text !== "");
      if (this.hidden || row !== this.row) return cells;
      const cursor = line[Math.min(this.column, this.columns - 1)];
      return cells.map((cell) => (cell === cursor ? { ...cell, style: { ...cell.style, inverse: !cell.style.inverse } } : cell));
    });
  }

  /** The lines as text, without blanks at their ends. */
  text() {
    return this.grid.map((line) => line.map((cell) => cell.text).join("").trimEnd()).join("\n").trimEnd();
  }
}

const clamp = (value, least, most) => Math.max(least, Math.min(most, value));
const blank = () => ({ text: " ", style: PLAIN });
const blankLine = (columns) => Array.from({ length: columns }, blank);
const blankGrid = (columns, rows) => Array.from({ length: rows }, () => blankLine(columns));
