/** What the doctor found out about one thing. */
export interface Finding {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  /** What to do about it, ready to paste where that can be. */
  remedy?: string;
}

const GRAVITY = { ok: 0, warn: 1, fail: 2 };

/** Of those about one thing the gravest, at the place of the first; of equals that one. */
export const joined = (findings: Finding[]): Finding[] => {
  const byName = new Map<string, Finding>();
  for (const finding of findings) {
    const known = byName.get(finding.name);
    if (!known || GRAVITY[finding.status] > GRAVITY[known.status]) {
      byName.set(finding.name, finding);
    }
  }
  return [...byName.values()];
};

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
