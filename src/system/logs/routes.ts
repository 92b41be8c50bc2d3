import type { LogLine, LogRing } from '../../kernel/ring.js';
import { resource } from '../../kernel/route.js';
import { type Hub, readOrWait } from '../../realtime/module.js';
import { LEVELS, type LogEntry, logs } from './contract.js';

const DEFAULT_LIMIT = 200;

export const logsResource = (recent: LogRing, hub: Hub) =>
  resource('logs', logs, {
    list: async ({ query }, by) => {
      const { after = null, level = 'trace', limit = DEFAULT_LIMIT, wait = 0 } = query;
      const levels = LEVELS.slice(LEVELS.indexOf(level));
      const read = (): LogLine[] => {
        const found = recent.after(after).filter((line) => levels.includes(line.level));
        return after === null ? found.slice(-limit) : found.slice(0, limit);
      };
      const lines = await readOrWait(
        { ...hub, listen: (_user, _channel, notify) => recent.listen(() => notify(null)) },
        { userId: by.userId, channels: ['log'], ms: wait * 1000, signal: by.signal },
        async () => read(),
      );
      const { oldest, last } = recent.ends();
      const isCut = after !== null && lines.length === limit;
      return {
        entries: lines.map(toLogEntry),
        lastId: isCut ? (lines.at(-1)?.number ?? last) : last,
        oldestId: oldest,
        gap: after !== null && oldest > after + 1,
      };
    },
  });

/** A line that is not JSON was cut. It becomes the message. */
const toLogEntry = ({ number, level, text }: LogLine): LogEntry => {
  const { at = null, msg = '', level: _level, ...data } = parseLogFields(text);
  const isTime = typeof at === 'string' && !Number.isNaN(Date.parse(at));
  return { id: number, at: isTime ? at : null, level, message: String(msg), data };
};

const parseLogFields = (text: string): Record<string, unknown> => {
  try {
    return JSON.parse(text);
  } catch {
    return { msg: text };
  }
};
