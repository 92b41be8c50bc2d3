import { randomBytes } from 'node:crypto';
import {
  type Client,
  contracts,
  type Execution,
  type Hook,
  type SenderVerification,
} from '../../src/client/index.js';
import { buildColumns, valueAt } from '../columns.js';
import type { Context } from '../command.js';
import { crud } from '../crud.js';
import { usageFault } from '../exit.js';
import { readSecretInput } from '../input.js';
import { namePages } from '../pages.js';
import { NEWEST_PAGES, resolveId } from '../resolve.js';
import { ago, duration } from '../text.js';

const endpoints = await contracts.hooks();

export const hookTableColumns = buildColumns<Hook>(
  ['id:data', 'name'],
  { name: 'state', value: (hook) => (hook.enabled ? 'enabled' : 'disabled'), isState: true },
  { name: 'trigger', value: ({ trigger }) => trigger, show: formatTrigger },
  ['action', 'runs=stats.executions:number'],
  {
    name: 'last',
    value: (hook) => hook.stats.lastStatus,
    show: ({ stats }) => formatLastExecution(stats),
    isState: true,
  },
  ['last-at=stats.lastExecutionAt:data', 'path=triggerConfig.webhookPath:data'],
  { name: 'sender', value: ({ triggerConfig: { verify } }) => senderName(verify), only: 'data' },
);

export const executionTableColumns = buildColumns<Execution>(
  ['id:data', 'time=createdAt:time', 'status:state', 'event=triggerContext.event'],
  {
    name: 'took',
    value: (run) => run.durationMs,
    show: (run) => formatExecutionTime(run),
    isNumber: true,
  },
  ['short=id:tail'],
  { name: 'result', value: (run) => run.error ?? run.result, show: (run) => executionGist(run) },
  ['agent=agentId:data'],
);

export const hookCrud = crud({
  noun: 'hook',
  rows: 'hooks',
  endpoints,
  columns: hookTableColumns,
  named: (hook) => hook,
});

/** Finds an execution of a hook by its id or the end of it. */
export const executionId = (client: Client, id: string, typed: string): Promise<string> =>
  resolveId(typed, {
    noun: 'execution',
    listed: `hooks executions ${id}`,
    pages: NEWEST_PAGES,
    page: namePages(
      'executions',
      (query) => client.hooks.executions({ id, query }),
      (run) => ({ id: run.id, name: run.createdAt }),
    ),
  });

/** Summarizes an execution in one line: its error, or its result. */
export const executionGist = ({
  error,
  result,
  agentId,
}: Pick<Execution, 'error' | 'result' | 'agentId'>) => {
  if (error) return error;
  const text = typeof result === 'string' ? result : valueAt(result, 'text');
  if (typeof text === 'string') return text.split('\n', 1)[0] ?? '';
  if (result !== null) return JSON.stringify(result);
  return agentId ? `agent ${agentId.slice(-6)}` : '';
};

const formatLastExecution = ({ lastStatus, lastExecutionAt }: Hook['stats']): string =>
  lastExecutionAt === null ? 'never' : `${lastStatus}, ${ago(lastExecutionAt)}`;

/** Name of the preset; `described` for a signature of the hook's own. */
const senderName = (verify: SenderVerification | undefined): string => {
  if (verify === undefined || typeof verify === 'string') return verify ?? '';
  return verify.preset ?? 'described';
};

/** The trigger, and what it listens to: `webhook issues`, `email INBOX`. */
function formatTrigger({ trigger, triggerConfig }: Hook): string {
  const { webhookPath, cron, accountId, folder } = triggerConfig;
  const account = accountId && `account ${accountId.slice(-6)}`;
  const source = {
    webhook: webhookPath,
    schedule: cron,
    email: [folder, account].filter(Boolean).join(', ') || 'all mailboxes',
  };
  const text = trigger in source ? Object(source)[trigger] : undefined;
  return text ? `${trigger} ${text}` : trigger;
}

const formatExecutionTime = ({ durationMs }: Execution): string =>
  durationMs === null ? '' : duration(durationMs);

const SECRET_BYTES = 32;

export interface NewSecret {
  value: string;
  /** Whether the command generated it and must show it once. */
  isMade: boolean;
}

/**
 * Reads the secret from a file or generates one. Throws if the output cannot show a generated
 * one.
 */
export const newHookSecret = async (
  context: Context,
  file: string | undefined,
): Promise<NewSecret> => {
  if (file === undefined) {
    const { out, flags } = context;
    if (out.format === 'id' || flags.fields !== undefined) {
      throw usageFault('This output cannot show the new secret. Pass your own: --secret-file');
    }
    return { value: randomBytes(SECRET_BYTES).toString('base64url'), isMade: true };
  }
  return { value: await readHookSecret(context, file), isMade: false };
};

/** The secret that the sender also has, from a file, stdin or hidden input. */
export const readHookSecret = (context: Context, file: string | undefined): Promise<string> =>
  readSecretInput(context, file, { ask: 'Secret of the hook', instead: '--secret-file' });
