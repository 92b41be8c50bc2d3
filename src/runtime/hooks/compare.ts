import type { Budget } from './budget.js';

/** The comparison takes longer than its budget. */
export class BudgetSpent extends Error {
  override name = 'BudgetSpent';
}

/** Entries of a list that are compared between two looks at the budget. */
const CHUNK = 1024;
/** Places at which a text is searched between two looks at the budget. */
const WINDOW = 4096;

/** Whether two JSON values are the same; the order of keys is none of it. */
export const isEqual = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((each, at) => isEqual(each, b[at]));
  }
  // The wanted value is the small one: its keys are looked at before those of the payload are counted.
  const wanted = Object.entries(b);
  const isThere = wanted.every(([key, each]) => {
    const own = Object.getOwnPropertyDescriptor(a, key);
    return own !== undefined && isEqual(own.value, each);
  });
  return isThere && Object.keys(a).length === wanted.length;
};

/** Whether one of the values is in the list. BudgetSpent. */
export const isAmong = (list: unknown[], wanted: unknown, budget: Budget): boolean => {
  // A list of a million takes a few milliseconds like this, and three times as long by its iterator.
  const isSimple = typeof wanted !== 'object' || wanted === null;
  for (let at = 0; at < list.length; at++) {
    const each = list[at];
    if (each === wanted || (!isSimple && isEqual(each, wanted))) return true;
    if (at % CHUNK === 0) need(budget);
  }
  return false;
};

/**
 * Whether the text holds what is wanted. BudgetSpent: a search of the engine cannot be interrupted,
 * and takes the product of both lengths on texts that are chosen for it, so it is made in pieces.
 */
export const holdsText = (text: string, wanted: string, budget: Budget): boolean => {
  for (let at = 0; at <= text.length - wanted.length; at += WINDOW) {
    if (text.slice(at, at + WINDOW + wanted.length).includes(wanted)) return true;
    need(budget);
  }
  return false;
};

const need = (budget: Budget): void => {
  if (budget.isSpent()) throw new BudgetSpent();
};
