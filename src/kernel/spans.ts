import { CUT, type Escapes, escapesIn, type Unescaped } from './escapes.js';
import { MIN_PIECE_LENGTH } from './secretforms.js';
import { type StepLimit, unlimitedSteps } from './steplimit.js';
import type { Trie } from './trie.js';

const BEFORE_A_BREAK = 4;
/** Cost of one partial word at one position, in compared characters. */
const PER_STATE = 10;
const PER_TEXT = 50;
const FEED = 10;
const RETURN = 13;
const INDENT = /[ \t]{1,64}/y;

/**
 * Finds words, also escaped ones, in one pass with every partial word at each position. The time
 * grows with the text, the longest word and the readings per position. Throws StepLimitExceeded.
 */
export const spansIn = (text: string, trie: Trie, effort: StepLimit = unlimitedSteps()) => {
  effort.spend(PER_TEXT + text.length);
  const walk = new Walk(text, trie, effort);
  for (let at = 0; at < text.length; at++) walk.pass(at);
  return walk.end();
};

type States = Map<number, number>;

class Walk {
  private readonly found: [number, number][] = [];
  private readonly underWay = new Map<number, States>();
  private readonly escapes: Escapes;
  private open: number;
  private cut: number;

  constructor(
    private readonly text: string,
    private readonly trie: Trie,
    private readonly effort: StepLimit,
  ) {
    this.escapes = escapesIn(text, effort);
    this.open = text.length;
    this.cut = text.length;
  }

  pass(at: number): void {
    const mark = this.escapes.marks[at];
    const states = this.underWay.size > 0 ? this.underWay.get(at) : undefined;
    if (mark === 0 && !states) {
      if (this.trie.follow(0, this.text.charCodeAt(at)) !== 0) this.run(0, at, at);
      return;
    }
    this.underWay.delete(at);
    this.passAll((states ?? new Map()).set(0, at), at);
  }

  end() {
    const states = this.underWay.get(this.text.length);
    if (states) this.leaveOpen(states);
    return { found: this.found, open: this.open, cut: this.cut };
  }

  private passAll(states: States, at: number): void {
    this.effort.spend(PER_STATE * states.size);
    const mark = this.escapes.marks[at] ?? 0;
    if (mark >= CUT) this.leaveOpen(states);
    for (const [node, begin] of states) {
      if (this.isBreak(at)) this.step(node, begin, { end: at + 1, text: this.text.charAt(at) });
      else this.run(node, begin, at);
      if (mark === 0) continue;
      for (const one of this.escapes.at(at)) this.step(node, begin, one);
    }
  }

  private run(from: number, begin: number, start: number): void {
    const { text, trie } = this;
    let node = from;
    for (let at = start; at < text.length; at++) {
      this.effort.spend(1);
      if (at > start && (this.escapes.marks[at] !== 0 || this.isBreak(at))) {
        this.put(at, node, begin);
        return;
      }
      node = trie.follow(node, text.charCodeAt(at));
      if (node === 0) return;
      if (trie.isEnd(node)) this.found.push([begin, at + 1]);
    }
    this.put(text.length, node, begin);
  }

  private isBreak(at: number): boolean {
    const unit = this.text.charCodeAt(at);
    return unit === FEED || unit === RETURN;
  }

  private step(from: number, begin: number, { end, text }: Unescaped): void {
    this.effort.spend(PER_STATE);
    const isBreak = text === '' || text === '\n' || text === '\r';
    if (isBreak && this.trie.depth(from) >= BEFORE_A_BREAK) this.passOver(from, begin, end);
    if (text === '') return;
    let node = from;
    for (let unit = 0; unit < text.length; unit++) {
      node = this.trie.follow(node, text.charCodeAt(unit));
      if (node === 0) return;
    }
    if (this.trie.isEnd(node)) this.found.push([begin, end]);
    this.put(end, node, begin);
  }

  private passOver(node: number, begin: number, end: number): void {
    this.put(end, node, begin);
    INDENT.lastIndex = end;
    const [blanks] = INDENT.exec(this.text) ?? [];
    if (blanks !== undefined) this.put(end + blanks.length, node, begin);
  }

  private put(at: number, node: number, begin: number): void {
    const states = this.underWay.get(at);
    if (!states) this.underWay.set(at, new Map([[node, begin]]));
    else states.set(node, Math.min(begin, states.get(node) ?? begin));
  }

  private leaveOpen(states: States): void {
    for (const [node, begin] of states) {
      this.open = Math.min(this.open, begin);
      if (this.trie.depth(node) >= MIN_PIECE_LENGTH) this.cut = Math.min(this.cut, begin);
    }
  }
}
