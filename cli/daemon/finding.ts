/** What the doctor found out about one thing. */
export interface Finding {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  /** What to do about it, ready to paste where that can be. */
  remedy?: string;
}

export const fine = (name: string, detail: string): Finding => ({ name, status: 'ok', detail });
export const warn = (name: string, detail: string, remedy: string): Finding => ({
  name,
  status: 'warn',
  detail,
  remedy,
});
export const wrong = (name: string, detail: string, remedy: string): Finding => ({
  name,
  status: 'fail',
  detail,
  remedy,
});
