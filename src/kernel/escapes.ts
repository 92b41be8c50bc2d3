import { type EscapeReading, introduced } from './escapesyntax.js';
import { type StepLimit, unlimitedSteps } from './steplimit.js';

export interface Unescaped {
  end: number;
  /** Empty for a soft line break (RFC 2045, section 6.7). */
  text: string;
}

export interface Escapes {
  /** Per position: 0, `READ` if an escape starts here, `CUT` if the text ends within one. */
  marks: Uint8Array;
  at(place: number): readonly Unescaped[];
}

const READ = 1;
export const CUT = 2;

const LAYERS = 3;
const MAX_HERE = 12;
const MAX_STEPS = 60;
/** Cost of each kind of step, in compared characters. */
const AT_PLACE = 30;
const PER_READING = 20;
const PER_CHARACTER = 40;
const MAX_BACKSLASHES = 2 ** LAYERS;
const BACKSLASH = 92;
const MAX_CHARACTER_LENGTH = 4;
const PLUS = 43;
const NONE: readonly Unescaped[] = [];

/**
 * Finds all escapes, also escaped ones. Returns every possible reading: `=Ab` is an escape in an
 * e-mail but not in a setting. Throws StepLimitExceeded.
 */
export const escapesIn = (text: string, effort: StepLimit = unlimitedSteps()): Escapes => {
  let places = placesIn(text, effort);
  const reader = new Reader(text, effort);
  for (let layer = 1; layer <= LAYERS && places.length > 0; layer++) places = reader.read(places);
  reader.join();
  return { marks: reader.marks, at: (place) => reader.found.get(place) ?? NONE };
};

const BEGINS = new Set(Array.from('\\%&=+', (sign) => sign.charCodeAt(0)));

const placesIn = (text: string, effort: StepLimit): number[] => {
  const places: number[] = [];
  for (let at = text.length - 1; at >= 0; at--) {
    if (!BEGINS.has(text.charCodeAt(at))) continue;
    effort.spend(AT_PLACE);
    places.push(at);
  }
  return places;
};

interface PartialEscape {
  reading: EscapeReading;
  end: number;
}

class Reader {
  readonly found = new Map<number, Unescaped[]>();
  readonly marks: Uint8Array;
  private readonly reach = new Map<number, number>();
  /** Per position, UTF-8 bytes that are not a character by themselves. */
  private readonly bytes = new Map<number, { end: number; byte: number }[]>();

  private readonly runEnds = new Map<number, number>();
  /** Per position, 1 if more backslashes follow than three layers reduce to one. */
  private readonly runs: Uint8Array;

  constructor(
    private readonly text: string,
    private readonly effort: StepLimit,
  ) {
    this.marks = new Uint8Array(text.length + 1);
    this.runs = new Uint8Array(text.length + 1);
    for (let at = text.length - 1, run = 0; at >= 0; at--) {
      run = text.charCodeAt(at) === BACKSLASH ? run + 1 : 0;
      if (run > MAX_BACKSLASHES + 1) this.runs[at] = 1;
    }
  }

  read(places: number[]): number[] {
    const fresh = new Uint8Array(this.text.length + 1);
    const several = places.map((place) => {
      const mark = this.marks[place];
      const found = this.readAt(place);
      if (this.marks[place] !== mark) fresh[place] = 1;
      return found;
    });
    several.forEach((found, index) => {
      const place = places[index] ?? 0;
      if (this.keep(place, found)) fresh[place] = 1;
    });
    const next = new Set(places.filter((place) => fresh[place] === 1));
    if (next.size === 0) return [];
    for (const [at, far] of this.reach) {
      this.effort.spend(far - at);
      if (isWithin(fresh, at, far)) next.add(at);
    }
    return [...next].sort((a, b) => b - a);
  }

  /**
   * In a long run of backslashes only whole layers are returned, because mixtures matter only at
   * its end.
   */
  private readAt(place: number): Unescaped[] {
    this.effort.spend(AT_PLACE);
    if (this.runs[place] !== 1) return this.escapesAt(place);
    return [2, 4, MAX_BACKSLASHES].map((length) => ({ end: place + length, text: '\\' }));
  }

  join(): void {
    for (const place of this.bytes.keys()) {
      this.keep(place, this.charactersAt(place));
    }
  }

  private keep(place: number, several: Unescaped[]): boolean {
    const known = this.found.get(place) ?? [];
    const before = known.length;
    for (const one of several) {
      if (known.length >= MAX_HERE) break;
      if (!known.some(({ end, text }) => end === one.end && text === one.text)) known.push(one);
    }
    if (known.length === before) return false;
    this.found.set(place, known);
    this.mark(place, READ);
    return true;
  }

  private keepByte(place: number, byte: { end: number; byte: number }): void {
    const known = this.bytes.get(place) ?? [];
    if (known.length < MAX_HERE && !known.some(({ end }) => end === byte.end)) known.push(byte);
    this.bytes.set(place, known);
  }

  private escapesAt(place: number): Unescaped[] {
    const found: Unescaped[] = [];
    if (this.text.charCodeAt(place) === PLUS) found.push({ end: place + 1, text: ' ' });
    const left = this.firsts(place);
    let far = place;
    for (let steps = 0; steps < MAX_STEPS; steps++) {
      const begun = left.pop();
      if (!begun) break;
      this.effort.spend(PER_READING);
      const { reading, end } = begun;
      for (const text of reading.means) found.push({ end, text });
      if (reading.byte !== undefined) this.keepByte(place, { end, byte: reading.byte });
      far = Math.max(far, end);
      this.follow(begun, place, left);
    }
    this.reach.set(place, far);
    return found;
  }

  private follow({ reading, end }: PartialEscape, place: number, left: PartialEscape[]): void {
    if (this.isCut(end) && (reading.means.length === 0 || reading.next(48) !== null))
      this.mark(place, CUT);
    if (end >= this.text.length) return;
    for (const one of this.found.get(end) ?? NONE) {
      const next = one.text.length === 1 ? reading.next(one.text.charCodeAt(0)) : null;
      if (next) left.push({ reading: next, end: one.end });
    }
    const next = reading.next(this.text.charCodeAt(end));
    if (next)
      left.push({ reading: next, end: next === reading ? this.runEnd(reading, end) : end + 1 });
  }

  private runEnd(reading: EscapeReading, end: number): number {
    let at = this.runEnds.get(end) ?? end;
    if (at === end) {
      while (at < this.text.length && reading.next(this.text.charCodeAt(at)) === reading) at++;
      this.runEnds.set(end, at);
    }
    this.effort.spend(at - end);
    return at;
  }

  private firsts(place: number): PartialEscape[] {
    const first = introduced(this.text.charCodeAt(place));
    const begun: PartialEscape[] = first ? [{ reading: first, end: place + 1 }] : [];
    for (const { end, text } of this.found.get(place) ?? NONE) {
      const reading = text.length === 1 ? introduced(text.charCodeAt(0)) : null;
      if (reading) begun.push({ reading, end });
    }
    return begun;
  }

  private charactersAt(place: number): Unescaped[] {
    const found: Unescaped[] = [];
    const left = [{ bytes: Buffer.alloc(0), end: place }];
    for (let steps = 0; steps < MAX_STEPS; steps++) {
      const { bytes, end } = left.pop() ?? { bytes: null, end: 0 };
      if (bytes === null) break;
      this.effort.spend(PER_CHARACTER);
      const text = bytes.toString();
      if (bytes.length > 1 && !text.includes('\ufffd')) found.push({ end, text });
      if (bytes.length === MAX_CHARACTER_LENGTH) continue;
      if (this.isCut(end) && bytes.length > 0) this.mark(place, CUT);
      for (const one of this.bytes.get(end) ?? []) {
        left.push({ bytes: Buffer.concat([bytes, Buffer.of(one.byte)]), end: one.end });
      }
    }
    return found;
  }

  private isCut(place: number): boolean {
    return place >= this.text.length || (this.marks[place] ?? 0) >= CUT;
  }

  private mark(place: number, mark: number): void {
    this.marks[place] = (this.marks[place] ?? 0) | mark;
  }
}

const isWithin = (marks: Uint8Array, from: number, to: number): boolean => {
  for (let place = from; place <= to; place++) if (marks[place] === 1) return true;
  return false;
};
