import { send } from '../../src/client/send.js';

const TIMEOUT_MS = 2_000;
const EVERYWHERE = ['0.0.0.0', '::', '[::]'];

/** The program that answers at an address. */
export type Readiness =
  | { is: 'ready' }
  /** `failing` names the parts that are not, `draining` among them. */
  | { is: 'not_ready'; failing: string[] }
  /** Something that is no Adjutant. */
  | { is: 'stranger' }
  | { is: 'silent' };

/** Asks the daemon whether it takes work; never throws. */
export const readinessOf = async (url: string): Promise<Readiness> => {
  const reply = await ask(`${url}/health/ready`);
  if (reply === null) return { is: 'silent' };
  if (typeof reply !== 'object' || reply === undefined) return { is: 'stranger' };
  const { status, failing }: { status?: unknown; failing?: unknown } = reply;
  if (status === 'ready') return { is: 'ready' };
  if (status !== 'not_ready' || !Array.isArray(failing)) return { is: 'stranger' };
  return { is: 'not_ready', failing: failing.map(String) };
};

/** The address in the line with which a daemon says where it listens, one can connect to it. */
export const listeningIn = (said: string): string | null => {
  const found = /^\s*listening (http:\/\/(\S+):(\d+))/m.exec(said);
  const [, , host = '', port = ''] = found ?? [];
  if (!found) return null;
  if (EVERYWHERE.includes(host)) return `http://127.0.0.1:${port}`;
  return `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
};

/** The reply; null without one, undefined where it is not JSON. */
const ask = async (url: string): Promise<object | null | undefined> => {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await send(url, { method: 'GET', headers: {}, signal });
    const text = await response.text();
    return text.startsWith('{') ? JSON.parse(text) : undefined;
  } catch (error) {
    return error instanceof SyntaxError ? undefined : null;
  }
};
