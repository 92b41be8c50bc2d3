import type { LogEntry } from '../../src/client/index.js';

/** A line of the daemon's log, or a gap of lines that the daemon no longer held when asked. */
export type LogRow = { id: string } & (
  | { is: 'line'; entry: LogEntry }
  | { is: 'gap'; from: number; to: number }
);
export type LogLevel = LogEntry['level'];

/** A command-line tool that can be a model, with the quota that it reported. */
export interface CliToolItem {
  id: string;
  name: string;
  /** The path; null if the tool is not installed. */
  path: string | null;
  version: string | null;
  /** True if the tool runs confined. */
  isRunnable: boolean;
  isLoggedIn: boolean;
  /** The quota: `used` of `limit`, or a fraction if the limit is 1. */
  quota: {
    used: number | null;
    limit: number | null;
    resetsAt: string | null;
    exhausted: boolean | null;
  } | null;
}

/** The models of a topic, in the order in which they are tried. */
export interface RouteItem {
  id: string;
  topic: string;
  models: string[];
}
