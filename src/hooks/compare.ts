import type { Budget } from './budget.js';

/** The comparison takes longer than its budget. */
export class BudgetSpent extends Error {
  override name = 'BudgetSpent';
}

/** Values that are compared between two looks at the budget. */
const CHUNK = 256;
/** Places at which a text is searched between two looks at the budget. */
const WINDOW = 4096;
/** The keys of larger objects are counted once: V8 lists all of them even to tell whether there is one. */
const MANY_KEYS = 32;

/** Compares what strangers sent with what a hook wants, within a budget. */
export class Comparison {
  private work = 0;
  private readonly counts = new WeakMap<object, number>();

  constructor(private readonly budget: Budget) {}

  /** Whether two JSON values are the same; the order of keys is none of it. BudgetSpent. */
  isEqual(found: unknown, wanted: unknown): boolean {
    if (found === wanted) return true;
    if (!isObject(found) || !isObject(wanted)) return false;
    this.spend(1);
    if (Array.isArray(found) || Array.isArray(wanted)) {
      if (!Array.isArray(found) || !Array.isArray(wanted)) return false;
      if (found.length !== wanted.length) return false;
      return wanted.every((each, at) => this.isSame(found[at], each));
    }
    return this.hasSameMembers(found, wanted);
  }

  /** Whether one of the values is in the list, which may be very long. BudgetSpent. */
  isAmong(list: unknown[], wanted: unknown): boolean {
    // A list of a million takes a few milliseconds like this, and three times as long by its iterator.
    const isSimple = !isObject(wanted);
    for (let at = 0; at < list.length; at++) {
      const each = list[at];
      if (each === wanted || (!isSimple && this.isEqual(each, wanted))) return true;
      if (at % CHUNK === 0) this.look();
    }
    return false;
  }

  /** Whether the value is one of those wanted. BudgetSpent. */
  isOneOf(found: unknown, wanted: unknown[]): boolean {
    return wanted.some((each) => this.isSame(found, each));
  }

  /**
   * Whether the text holds what is wanted. BudgetSpent: a search of the engine cannot be interrupted,
   * and takes the product of both lengths on texts that are chosen for it, so it is made in pieces.
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

  /** The wanted value is the small one: its keys are looked at before those of the payload are counted. */
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
    if (this.budget.isSpent()) throw new BudgetSpent();
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
