import type { PageName } from '../state/places.js';

/** The last announcement: what a row number refers to, and where the next page of rows begins. */
export class Announcement {
  /** True if the list of screens was announced last, so that a number means a screen. */
  isMenu = true;
  /** Index of the first announced row or line, and the index after the last one. */
  from = 0;
  to = 0;
  /** Ids of the approvals that were decided here, whose outcome was announced already. */
  readonly decided = new Set<string>();
  private readonly rows = new Map<number, string>();
  private readonly calls: string[] = [];

  /** Forgets the row numbers that were announced before. */
  clear(): void {
    this.rows.clear();
    this.from = 0;
    this.to = 0;
  }

  /**
   * Returns the number of a row, from 1 on, and remembers it. An approval that waits always has the
   * same number.
   */
  numberOf(page: PageName, id: string, index: number): number {
    const number = page === 'approvals' ? this.callNumber(id) : index + 1;
    this.rows.set(number, id);
    return number;
  }

  /** Returns the id that was announced with a number, even if rows have moved since. */
  idOf(number: number): string | undefined {
    return this.rows.get(number);
  }

  callNumber(id: string): number {
    const at = this.calls.indexOf(id);
    return at >= 0 ? at + 1 : this.calls.push(id);
  }
}
