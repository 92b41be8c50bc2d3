import { parsedJson } from '../../kernel/jsonvalue.js';
import { type TunnelProvider, tunnelOrigin } from './tunnel.js';

/**
 * ngrok's agent, version 3. It logs JSON lines; `started tunnel` contains the address. Its inspector is
 * off, since it would show whole requests with their secrets on a local page.
 */
export const ngrok: TunnelProvider = {
  program: 'ngrok',
  version: ['version'],
  addressHeader: 'x-forwarded-for',
  args: (run) => [
    ...['http', tunnelOrigin(run), '--log', 'stdout', '--log-format', 'json', '--inspect=false'],
    ...(run.publicUrl === null ? [] : [`--url=${run.publicUrl}`]),
  ],
  env: ({ token }) => ({ ...(token !== null && { NGROK_AUTHTOKEN: token }) }),
  hear: (line) => {
    const { msg, url, err, lvl } = parseNgrokLogLine(line);
    if (msg === undefined) return { line: line };
    const isStarted = msg === 'started tunnel' && url !== undefined;
    const text = [msg, err, isStarted ? url : undefined].filter(Boolean).join(': ');
    return { ...(isStarted && { isUp: true, url }), line: lvl === 'debug' ? null : text };
  },
};

type NgrokFields = Partial<Record<'msg' | 'url' | 'err' | 'lvl', string>>;

/** Empty if the line is not JSON, such as an error before the log begins. */
const parseNgrokLogLine = (line: string): NgrokFields => {
  const found = Object.entries(parsedJson(line) ?? {});
  const texts = found.filter(([, value]) => typeof value === 'string');
  const { url, ...rest }: NgrokFields = Object.fromEntries(texts);
  // ngrok writes `<nil>` if there was no error.
  const err = rest.err === '<nil>' ? undefined : rest.err;
  return { ...rest, err, ...(url && URL.canParse(url) && { url: new URL(url).origin }) };
};
