import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

/** The levels, from the least grave. */
export const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
const MAX_LINES = 1000;

const big = () => s.whole(0, Number.MAX_SAFE_INTEGER);

export const LogEntry = s.object('LogEntry', {
  id: big().description('Number of the line; those of an earlier start are smaller'),
  at: s.nullable(s.time()),
  level: s.oneOf('LogLevel', ...LEVELS),
  message: s.anyText(16_384),
  data: s.record('LogFields'),
});
export type LogEntry = s.Static<typeof LogEntry>;

export const logs = contract({
  list: endpoint.get('/api/admin/logs', {
    summary: 'The newest lines of the daemon’s log, as far as memory holds them',
    access: 'admin',
    audit: 'logs.list',
    continuedBy: 'after',
    query: s.object('LogQuery', {
      after: s.optional(
        s.queryWhole(0, Number.MAX_SAFE_INTEGER).description('The last number known'),
      ),
      level: s.optional(
        s.oneOf('LeastLogLevel', ...LEVELS).description('This one and graver ones'),
      ),
      limit: s.optional(s.queryWhole(1, MAX_LINES)),
      wait: s.optional(s.queryWhole(0, 30).description('Seconds to wait for a line')),
    }),
    reply: s.object('LogEntries', {
      entries: s.list(LogEntry, MAX_LINES),
      lastId: big().description('The next `after`: number of the last line looked at'),
      oldestId: big(),
      gap: s.flag().description('Lines after `after` are not held any more'),
    }),
  }),
});
