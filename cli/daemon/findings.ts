/** One thing that the doctor looked at. */
export interface DoctorFinding {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  /** The remedy, ready to paste where that can be. */
  remedy?: string;
}

const GRAVITY = { ok: 0, warn: 1, fail: 2 };

/** Keeps the gravest finding of each name, at the place of the first; of equals the first. */
export const joinFindings = (findings: DoctorFinding[]): DoctorFinding[] => {
  const byName = new Map<string, DoctorFinding>();
  for (const finding of findings) {
    const known = byName.get(finding.name);
    if (!known || GRAVITY[finding.status] > GRAVITY[known.status]) {
      byName.set(finding.name, finding);
    }
  }
  return [...byName.values()];
};

export const okCheck = (name: string, detail: string): DoctorFinding => ({
  name,
  status: 'ok',
  detail,
});
export const warnCheck = (name: string, detail: string, remedy: string): DoctorFinding => ({
  name,
  status: 'warn',
  detail,
  remedy,
});
export const failFinding = (name: string, detail: string, remedy: string): DoctorFinding => ({
  name,
  status: 'fail',
  detail,
  remedy,
});
