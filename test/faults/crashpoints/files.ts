/** Holds the number of the change to end after. Absent: nothing is counted. */
export const ARMED = 'armed';
/** One line per change since it was armed. */
export const TRACE = 'trace';
