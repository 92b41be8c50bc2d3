import type { PageName } from '../state/locations.js';

/** The last announcement: the row behind each number, and the current range of rows. */
export class Announcement {
  /** True if the list of screens was announced last, so that a number means a screen. */
  isMenu = true;
  /** Index of the first announced row or line, and the index after the last one. */
  from = 0;
  to = 0;
  /** Approvals decided here. Their outcome has been announced already. */
  readonly decided = new Set<string>();
  private readonly rows = new Map<number, string>();
  private readonly calls: string[] = [];

  clear(): void {
    this.rows.clear();
    this.from = 0;
    this.to = 0;
  }

  /** Row number, counted from 1. A pending approval always keeps its number. */
  numberOf(page: PageName, id: string, index: number): number {
    const number = page === 'approvals' ? this.callNumber(id) : index + 1;
    this.rows.set(number, id);
    return number;
  }

  /** Id announced with a number, even if rows have moved since. */
  idOf(number: number): string | undefined {
    return this.rows.get(number);
  }

  callNumber(id: string): number {
    const at = this.calls.indexOf(id);
    return at >= 0 ? at + 1 : this.calls.push(id);
  }
}
