import { randomBytes } from 'node:crypto';
import { type Client, contracts, type Execution, type Hook } from '../../src/client/index.js';
import { columnsOf, valueAt } from '../columns.js';
import type { Context } from '../command.js';
import { crud } from '../crud.js';
import { usageFault } from '../exit.js';
import { secretFrom } from '../input.js';
import { namePages } from '../pages.js';
import { NEWEST_PAGES, resolveId } from '../resolve.js';
import { ago, duration } from '../text.js';
import { receiverOf } from './delivery.js';

const endpoints = await contracts.hooks();

export const hookTableColumns = columnsOf<Hook>(
  ['id:data', 'name'],
  { name: 'state', value: (hook) => (hook.enabled ? 'enabled' : 'disabled'), isState: true },
  ['trigger:data', 'action', 'runs=stats.executions:number'],
  {
    name: 'last',
    value: (hook) => hook.stats.lastStatus,
    show: ({ stats }) => lastOf(stats),
    isState: true,
  },
  ['last-at=stats.lastExecutionAt:data'],
  { name: 'path', value: (hook) => hook.triggerConfig.webhookPath, show: (hook) => sourceOf(hook) },
);

export const executionTableColumns = columnsOf<Execution>(
  ['id:data', 'time=createdAt:time', 'status:state', 'event=triggerContext.event'],
  { name: 'took', value: (run) => run.durationMs, show: (run) => tookOf(run), isNumber: true },
  ['short=id:tail'],
  { name: 'result', value: (run) => run.error ?? run.result, show: (run) => executionGist(run) },
  ['agent=agentId:data'],
);

/** A hook is known by its id, the end of that, or its name. */
export const hookCrud = crud({
  noun: 'hook',
  rows: 'hooks',
  endpoints,
  columns: hookTableColumns,
  named: (hook) => hook,
});

/** The run of a hook that was meant by an id or the end of one. */
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

/** The outcome of an execution in one line: its error, or its result. */
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

const lastOf = ({ lastStatus, lastExecutionAt }: Hook['stats']): string =>
  lastExecutionAt === null ? 'never' : `${lastStatus}, ${ago(lastExecutionAt)}`;

const sourceOf = ({ trigger, triggerConfig }: Hook): string => {
  if (trigger === 'webhook') return triggerConfig.webhookPath ?? '';
  return trigger === 'schedule' ? (triggerConfig.cron ?? '') : trigger;
};

const tookOf = ({ durationMs }: Execution): string =>
  durationMs === null ? '' : duration(durationMs);

export const senders = ['github', 'gitlab', 'gitea', 'stripe', 'other'] as const;
export type HookSender = (typeof senders)[number];

/** The lines to enter at the sender; the secret is not among them. */
export interface SenderForm {
  where: string;
  facts: [string, string][];
  /** Further notes for the person. */
  notes: string[];
}

interface ReceiverAddresses {
  /** Signed bodies. */
  signed: string;
  /** Address for senders that show the secret in a header. */
  incoming: string;
}

export const addressesOf = (url: string, { id, triggerConfig }: Hook): ReceiverAddresses => ({
  signed: `${url}${receiverOf(triggerConfig.webhookPath ?? '')}`,
  incoming: `${url}/api/hooks/incoming/${id}`,
});

const SHOWN_ONCE = 'the secret of the hook, shown once when it was made';

/** Values that fill the form. */
interface FormValues extends ReceiverAddresses {
  /** The place of the secret, in words. */
  secret: string;
}

const forms: Record<HookSender, (from: FormValues) => SenderForm> = {
  github: ({ signed, secret }) => ({
    where: 'GitHub → repository → Settings → Webhooks → Add webhook',
    facts: [
      ['Payload URL', signed],
      ['Content type', 'application/json'],
      ['Secret', secret],
      ['SSL verification', 'enabled'],
      ['Events', 'the ones that this hook is for'],
    ],
    notes: ['Then save; GitHub sends a ping.'],
  }),
  gitlab: ({ signed, incoming, secret }) => ({
    where: 'GitLab → project → Settings → Webhooks → Add new webhook',
    facts: [
      ['URL', incoming],
      ['Secret token', secret],
      ['Trigger', 'the events that this hook is for'],
      ['SSL verification', 'enabled'],
    ],
    notes: [
      'With a Secret token GitLab shows the secret in a header: never without TLS.',
      `Better, where its form has a Signing token: generate one, with the URL ${signed}`,
      'Then give it to the hook: adjutant hooks update <hook> --secret-file -',
    ],
  }),
  gitea: ({ signed, secret }) => ({
    where: 'Gitea → repository → Settings → Webhooks → Add webhook → Gitea',
    facts: [
      ['Target URL', signed],
      ['HTTP Method', 'POST'],
      ['POST Content Type', 'application/json'],
      ['Secret', secret],
      ['Trigger On', 'the events that this hook is for'],
    ],
    notes: ['Then save, and try it there: Test Delivery.'],
  }),
  stripe: ({ signed }) => ({
    where: 'Stripe → Workbench → Webhooks → Add destination',
    facts: [
      ['Events', 'the ones that this hook is for'],
      ['Destination type', 'Webhook endpoint'],
      ['Endpoint URL', signed],
    ],
    notes: [
      'Stripe makes the secret itself. Copy its Signing secret (whsec_…), then:',
      'adjutant hooks update <hook> --secret-file -',
    ],
  }),
  other: ({ signed, incoming, secret }) => ({
    where: 'whatever sends it',
    facts: [
      ['Address', signed],
      ['Body', 'JSON, by POST with Content-Type: application/json'],
      ['Signature', 'X-Hub-Signature-256: sha256=<hex HMAC-SHA256 of the body under the secret>'],
      ['Secret', secret],
    ],
    notes: [
      'Standard Webhooks (webhook-id, webhook-timestamp, webhook-signature) is understood too.',
      `It cannot sign? Then with the header X-Webhook-Secret to ${incoming}`,
    ],
  }),
};

/** Guesses the sender from the hook's name. */
export const senderOf = ({ name }: Hook): HookSender =>
  senders.find((sender) => name.toLowerCase().includes(sender)) ?? 'other';

/** The form to fill in at the sender; `secret` says in words where that is. */
export const senderFormOf = (
  sender: HookSender,
  { url, notes }: { url: string; notes: string[] },
  hook: Hook,
  secret = SHOWN_ONCE,
): SenderForm => {
  const settings = forms[sender]({ ...addressesOf(url, hook), secret });
  return { ...settings, notes: [...settings.notes, ...reachOf(url), ...notes].map(nameIn(hook)) };
};

/** Lines that fire the hook; each reads the secret from a file, so that no process list shows it. */
export const triggerLines = (url: string, hook: Hook): string[] => [
  `adjutant hooks send ${wordOf(hook)} payload.json --secret-file secret.txt`,
  [
    `curl --data-binary @payload.json -H 'Content-Type: application/json'`,
    `-H @<(printf 'X-Webhook-Secret: %s' "$(cat secret.txt)")`,
    addressesOf(url, hook).incoming,
  ].join(' \\\n         '),
];

/** The word that names the hook on a command line. */
export const wordOf = ({ name, id }: Hook): string => (/^[\w.-]+$/.test(name) ? name : id);

const nameIn =
  (hook: Hook) =>
  (note: string): string =>
    note.replace('<hook>', wordOf(hook));

const LOOPBACK = /^https?:\/\/(127\.|localhost\b|\[::1\])/;
const reachOf = (url: string): string[] =>
  LOOPBACK.test(url)
    ? [
        'That address is for this machine alone. Others need a name with TLS in front of it:',
      ].concat('adjutant tunnel setup, then: adjutant hooks settings <hook>')
    : [];

const SECRET_BYTES = 32;

/** The secret of a new hook. */
export interface NewSecret {
  value: string;
  /** True if the command generated it and must show it once. */
  isMade: boolean;
}

/**
 * Reads the secret from a file or generates one. Usage: an output that cannot show a generated one.
 */
export const newHookSecret = async (
  context: Context,
  file: string | undefined,
): Promise<NewSecret> => {
  if (file === undefined) {
    const { out, flags } = context;
    if (out.format === 'id' || flags.fields !== undefined) {
      throw usageFault(
        'This output has no place for the new secret. Bring your own: --secret-file',
      );
    }
    return { value: randomBytes(SECRET_BYTES).toString('base64url'), isMade: true };
  }
  return { value: await givenSecret(context, file), isMade: false };
};

/** The secret that the sender has as well, from a file, stdin or hidden input. */
export const givenSecret = (context: Context, file: string | undefined): Promise<string> =>
  secretFrom(context, file, { ask: 'Secret of the hook', instead: '--secret-file' });
