import type { TunnelCheck, TunnelView } from '../../src/client/index.js';
import type { TableColumn } from '../columns.js';
import type { Context } from '../context.js';
import { Exit } from '../exit.js';
import { oneLine, padded, safe } from '../text.js';
import { ago } from '../times.js';

const STAGE_WIDTH = 12;
const STATUS_WIDTH = 7;
const LOG_LINES = 10;
const WORDS = { ok: 'ok', warn: 'WARN', failed: 'FAILED', not_run: 'not run' };

export const tunnelColumns: TableColumn<TunnelView>[] = [
  { name: 'provider', value: (tunnel) => tunnel.provider },
  { name: 'status', value: (tunnel) => tunnel.status, isState: true },
  { name: 'address', value: (tunnel) => tunnel.address },
  { name: 'reach', value: (tunnel) => tunnel.reach, isState: true },
  { name: 'check', value: ({ check }) => (check ? sayCheck(check) : null) },
  { name: 'detail', value: (tunnel) => tunnel.detail },
];

const stageColumns: TableColumn<TunnelCheck['stages'][number]>[] = [
  { name: 'name', value: (stage) => stage.name },
  { name: 'status', value: (stage) => stage.status, isState: true },
  { name: 'latency', value: (stage) => stage.latencyMs },
  { name: 'detail', value: (stage) => stage.detail },
];

/** Prints the tunnel's state, the last check and the newest lines of its program. */
export const showTunnel = (context: Context, tunnel: TunnelView): void => {
  const { out } = context;
  if (out.format !== 'table') {
    out.item(tunnel, tunnelColumns);
  } else if (tunnel.provider === null) {
    out.line('Nothing is set up: this machine alone reaches the daemon.');
    out.note('Set it up: adjutant tunnel setup');
  } else {
    describe(context, tunnel);
  }
};

const describe = ({ out }: Context, tunnel: TunnelView): void => {
  const since = tunnel.since === null ? '' : `, ${ago(tunnel.since)}`;
  out.line(
    `${tunnel.provider}   ${tunnel.status}${since}   ${safe(tunnel.address ?? 'no address')}${sayReach(tunnel)}`,
  );
  if (tunnel.detail) out.line(`Why   ${oneLine(tunnel.detail)}`);
  if (tunnel.addressHeader === null) {
    out.line('It tells no addresses of callers: limits per address are off.');
  }
  if (tunnel.check) showStages({ out }, tunnel.check);
  for (const { at, line } of tunnel.log.slice(-LOG_LINES)) {
    out.line(`  ${at.slice(11, 19)} ${oneLine(line)}`);
  }
  out.note(tunnel.on ? 'Go the whole way: adjutant tunnel check' : 'Start: adjutant tunnel start');
};

/** Stage by stage, and the remedy of the first that failed; the exit code says whether one did. */
export const showCheck = (context: Context, check: TunnelCheck): void => {
  const { out } = context;
  if (!check.ok) context.exitCode = Exit.failed;
  if (out.format !== 'table') {
    out.page({ reply: check, rows: check.stages, columns: stageColumns });
    return;
  }
  out.line(`Checking from outside in: ${safe(check.address)}`);
  showStages(context, check);
};

const showStages = ({ out }: Pick<Context, 'out'>, { stages, failure }: TunnelCheck): void => {
  for (const [at, { name, status, detail, latencyMs }] of stages.entries()) {
    const words = [padded(name, STAGE_WIDTH), padded(WORDS[status], STATUS_WIDTH)];
    const took = latencyMs === null ? '' : `, ${latencyMs} ms`;
    out.line(`  ${at + 1} ${words.join(' ')} ${oneLine(detail)}${took}`.trimEnd());
  }
  if (!failure) return;
  out.line(`Why   ${oneLine(failure.cause)}`);
  out.line(`Do    ${oneLine(failure.remedy)}`);
};

const sayReach = ({ reach }: TunnelView): string => (reach === 'none' ? '' : `   ${reach}`);

const sayCheck = ({ stages, failure }: TunnelCheck): string =>
  failure === null ? `${stages.length} of ${stages.length}` : `failed at ${failure.stage}`;
