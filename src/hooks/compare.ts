import { compareNumbers, isAnyNumber, isExactNumber } from '../kernel/exactjson.js';
import type { TimeLimit } from './timelimit.js';

export class TimeLimitSpent extends Error {
  override name = 'TimeLimitSpent';
}

/** Values compared between two checks of the time limit. */
const CHUNK = 256;
/** Text positions searched between two checks of the time limit. */
const WINDOW = 4096;
/** From this size on the number of keys is cached, because V8 lists all keys to count them. */
const MANY_KEYS = 32;

export class Comparison {
  private work = 0;
  private readonly counts = new WeakMap<object, number>();

  constructor(readonly timeLimit: TimeLimit) {}

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

  /** The list may be very long. Throws TimeLimitSpent. */
  isAmong(list: unknown[], wanted: unknown): boolean {
    // A loop takes a few milliseconds for a million entries; an iterator takes three times as long.
    const isSimple = !isObject(wanted);
    for (let at = 0; at < list.length; at++) {
      const each = list[at];
      if (each === wanted || ((!isSimple || isObject(each)) && this.isEqual(each, wanted)))
        return true;
      if (at % CHUNK === 0) this.look();
    }
    return false;
  }

  isOneOf(found: unknown, wanted: unknown[]): boolean {
    return wanted.some((each) => this.isSame(found, each));
  }

  /**
   * The text search of the engine cannot be interrupted and can take time proportional to the
   * product of both lengths. So the search runs in pieces. Throws TimeLimitSpent.
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
 * Integers above 2^53 are compared with a text of their digits, because a condition cannot contain
 * them as numbers.
 */
const isSameNumber = (found: unknown, wanted: unknown): boolean => {
  if (typeof wanted === 'string') return isExactNumber(found) && found.value === wanted;
  return isAnyNumber(found) && isAnyNumber(wanted) && compareNumbers(found, wanted) === 0;
};

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
