import type { PageName } from '../state/places.js';

/** What was told last: what a number means, and where the next page begins. */
export class Announcement {
  /** The list of screens was told last: a number means one of them. */
  isMenu = true;
  /** Of the rows or lines that were told: the first, and the one after the last. */
  from = 0;
  to = 0;
  /** Calls that were answered here: what came of them was told. */
  readonly answered = new Set<string>();
  private readonly rows = new Map<number, string>();
  private readonly calls: string[] = [];

  /** What was told before means nothing any more. */
  clear(): void {
    this.rows.clear();
    this.from = 0;
    this.to = 0;
  }

  /** Of a row, from 1 on. A call that waits has the same number wherever and whenever it is told. */
  numberOf(page: PageName, id: string, index: number): number {
    const number = page === 'approvals' ? this.callNumber(id) : index + 1;
    this.rows.set(number, id);
    return number;
  }

  /** What was meant by a number, whatever has moved since. */
  idOf(number: number): string | undefined {
    return this.rows.get(number);
  }

  callNumber(id: string): number {
    const at = this.calls.indexOf(id);
    return at >= 0 ? at + 1 : this.calls.push(id);
  }
}
