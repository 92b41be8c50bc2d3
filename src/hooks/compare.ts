import { compareNumbers, isAnyNumber, isExactNumber } from '../kernel/exactjson.js';
import type { TimeLimit } from './timelimit.js';

/** Thrown if the comparison takes longer than its time limit. */
export class TimeLimitSpent extends Error {
  override name = 'TimeLimitSpent';
}

/** The number of values that are compared between two checks of the time limit. */
const CHUNK = 256;
/** The number of positions at which a text is searched between two checks of the time limit. */
const WINDOW = 4096;
/**
 * The size from which the number of an object's keys is stored, because V8 lists all keys even to
 * find out if there is one.
 */
const MANY_KEYS = 32;

/** Compares untrusted values with those that a hook's conditions name, within a time limit. */
export class Comparison {
  private work = 0;
  private readonly counts = new WeakMap<object, number>();

  constructor(readonly timeLimit: TimeLimit) {}

  /**
   * Returns true if two JSON values are equal; the order of keys does not count. Errors:
   * TimeLimitSpent.
   */
  isEqual(found: unknown, wanted: unknown): boolean {
    if (found === wanted) return true;
    if (isExactNumber(found) || isExactNumber(wanted)) return isSameNumber(found, wanted);
    if (!isObject(found) || !isObject(wanted)) return false;
    this.spend(1);
    if (Array.isArray(found) || Array.isArray(wanted)) {
      if (!Array.isArray(found) || !Array.isArray(wanted)) return false;
      if (found.length !== wanted.length) return false;
      return wanted.every((each, at) => this.isSame(found[at], each));
    }
    return this.hasSameMembers(found, wanted);
  }

  /** Returns true if the list, which may be very long, contains the value. Errors: TimeLimitSpent. */
  isAmong(list: unknown[], wanted: unknown): boolean {
    // This loop takes a few milliseconds for a list of a million; an iterator takes three times as
    // long.
    const isSimple = !isObject(wanted);
    for (let at = 0; at < list.length; at++) {
      const each = list[at];
      if (each === wanted || ((!isSimple || isObject(each)) && this.isEqual(each, wanted)))
        return true;
      if (at % CHUNK === 0) this.look();
    }
    return false;
  }

  /** Returns true if the value is one of those wanted. Errors: TimeLimitSpent. */
  isOneOf(found: unknown, wanted: unknown[]): boolean {
    return wanted.some((each) => this.isSame(found, each));
  }

  /**
   * Returns true if the text contains what is wanted. Errors: TimeLimitSpent. The engine's search
   * cannot be interrupted, and on texts chosen for it takes time proportional to the product of
   * both lengths; therefore it is made in pieces.
   */
  holdsText(text: string, wanted: string): boolean {
    for (let at = 0; at <= text.length - wanted.length; at += WINDOW) {
      if (text.slice(at, at + WINDOW + wanted.length).includes(wanted)) return true;
      this.look();
    }
    return false;
  }

  private isSame(found: unknown, wanted: unknown): boolean {
    this.spend(1);
    return this.isEqual(found, wanted);
  }

  /**
   * Compares the members of two objects. The wanted value is the small one, so its keys are looked
   * up before those of the payload are counted.
   */
  private hasSameMembers(found: object, wanted: object): boolean {
    const members = Object.entries(wanted);
    this.spend(members.length);
    const isThere = members.every(([key, each]) => {
      const own = Object.getOwnPropertyDescriptor(found, key);
      return own !== undefined && this.isSame(own.value, each);
    });
    return isThere && this.countOf(found) === members.length;
  }

  private countOf(found: object): number {
    const known = this.counts.get(found);
    if (known !== undefined) return known;
    const count = Object.keys(found).length;
    if (count > MANY_KEYS) this.counts.set(found, count);
    this.spend(count);
    return count;
  }

  private spend(work: number): void {
    this.work += work;
    if (this.work < CHUNK) return;
    this.work = 0;
    this.look();
  }

  private look(): void {
    if (this.timeLimit.isSpent()) throw new TimeLimitSpent();
  }
}

/**
 * True for numbers of one value, however they are written, and for a text that is the number as it
 * was received: a condition cannot hold an integer above 2^53 as a number.
 */
const isSameNumber = (found: unknown, wanted: unknown): boolean => {
  if (typeof wanted === 'string') return isExactNumber(found) && found.value === wanted;
  return isAnyNumber(found) && isAnyNumber(wanted) && compareNumbers(found, wanted) === 0;
};

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
