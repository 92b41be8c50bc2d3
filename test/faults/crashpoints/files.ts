/** Holds a CrashPoint: `3 commit`. Absent: nothing is counted. */
export const ARMED = 'armed';
/** One line per change since it was armed. */
export const TRACE = 'trace';
