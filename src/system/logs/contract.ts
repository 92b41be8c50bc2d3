import { contract } from '../../kernel/contract/endpoint.js';
import {
  anyText,
  flag,
  list,
  nullable,
  object,
  oneOf,
  optional,
  queryWhole,
  record,
  type Static,
  time,
  whole,
} from '../../kernel/contract/schema.js';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
const MOST_LINES = 1000;

const big = () => whole(0, Number.MAX_SAFE_INTEGER);

export const LogEntry = object('LogEntry', {
  id: big().description('Number of the line; those of an earlier start are smaller'),
  at: nullable(time()),
  level: oneOf('LogLevel', ...LEVELS),
  message: anyText(16_384),
  data: record('LogFields'),
});
export type LogEntry = Static<typeof LogEntry>;

export const logs = contract({
  list: {
    method: 'GET',
    path: '/api/admin/logs',
    summary: 'The newest lines of the daemon’s log, as far as memory holds them',
    access: 'admin',
    audit: 'logs.list',
    continuedBy: 'after',
    query: object('LogQuery', {
      after: optional(queryWhole(0, Number.MAX_SAFE_INTEGER).description('The last number known')),
      level: optional(oneOf('LeastLogLevel', ...LEVELS).description('This one and graver ones')),
      limit: optional(queryWhole(1, MOST_LINES)),
      wait: optional(queryWhole(0, 30).description('Seconds to wait for a line')),
    }),
    reply: object('LogEntries', {
      entries: list(LogEntry, MOST_LINES),
      lastId: big().description('The next `after`: number of the last line looked at'),
      oldestId: big(),
      gap: flag().description('Lines after `after` are not held any more'),
    }),
  },
});
