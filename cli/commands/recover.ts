import type { Recovery } from '../../src/recover.js';
import type { RollbackResult } from '../../src/rollback.js';
import { type Context, command, switchFlag, textFlag } from '../command.js';
import { resolveHome } from '../daemon/environment.js';
import { failed, usageFault } from '../exit.js';
import { readNewPassword } from '../input.js';
import { safe } from '../text.js';

/**
 * Sets a new password for a user who cannot log in. It runs on the machine of the daemon, while
 * the daemon is stopped. `src/recover.ts` is loaded only here.
 */
export const recover = command({
  name: 'recover',
  args: '<user>',
  summary: 'Set a new password while the daemon is stopped',
  examples: [
    'ada',
    'ada --password-file - < ./password',
    'ada --home /srv/adjutant',
    'ada --password-file ./password --remove-totp --remove-passkeys all',
  ],
  flags: {
    passwordFile: textFlag(
      '<file|->',
      'File with the new password. If not set, the command asks for the password',
    ),
    removeTotp: switchFlag('Remove the authenticator app and its recovery codes'),
    removePasskeys: textFlag(
      '<names>',
      'Passkeys to remove: names or ids, separated by commas, or all',
    ),
  },
  notes: [
    'Ends all login sessions and tokens of the user, and enables a disabled account.',
    'On a terminal, the command asks which second factors and passkeys to remove.',
    'Hooks and all other data are kept. The audit log records the recovery.',
  ],
  seeAlso: 'adjutant down, adjutant users invite',
  run: async (context, { args, flags }) => {
    const recovery = await open(context);
    try {
      const account = await orFailed(recovery.find(args.user));
      const ask = `New password of ${args.user}`;
      const password = await readNewPassword(context, ask, flags.passwordFile);
      const removes = await pickRemovals(context, flags, {
        totp: account.totp === 1,
        passkeys: await recovery.passkeysOf(account.id),
      });
      await orFailed(recovery.recover(account, { password, removes }));
      printRecovery(context, account, removes);
    } finally {
      await recovery.close();
    }
  },
});

const open = async (context: Context) => {
  const { openRecovery } = await import('../../src/recover.js');
  return orFailed(openRecovery({ home: resolveHome(context.flags.home) }));
};

/** Converts a refusal of `src/recover.ts` or `src/rollback.ts` into a fault with the next step. */
export const refusedAs = (what: string, error: unknown): unknown => {
  if (!(error instanceof Error) || !/^(OpenRefused|BadSetting)$/.test(error.name)) return error;
  const next = error.message.startsWith('Another Adjutant') ? ['Stop it first: adjutant down'] : [];
  return failed(`${what}: ${safe(error.message)}.`, ...next);
};

const orFailed = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw refusedAs('Not recovered', error);
  });

type LostAccount = Awaited<ReturnType<Recovery['find']>>;
type LostPasskey = Awaited<ReturnType<Recovery['passkeysOf']>>[number];
type Removals = Parameters<Recovery['recover']>[1]['removes'];

/** Factors to remove: from the flags, or else asked for on a terminal. */
const pickRemovals = async (
  { ask }: Context,
  flags: { removeTotp?: boolean; removePasskeys?: string },
  has: { totp: boolean; passkeys: LostPasskey[] },
): Promise<Removals> => {
  const { removeTotp, removePasskeys } = flags;
  const isNamed = removeTotp !== undefined || removePasskeys !== undefined;
  if (isNamed || !ask.isPossible) {
    return { totp: removeTotp === true && has.totp, passkeys: named(removePasskeys, has.passkeys) };
  }
  const agrees = (what: string, instead: string): Promise<boolean> =>
    ask.agree({ ask: `Remove ${what}?`, instead }, false);
  const totp = has.totp && (await agrees('the authenticator app', '--remove-totp'));
  const passkeys: string[] = [];
  for (const { id, name, relying_party, created_at } of has.passkeys) {
    const what = `the passkey "${safe(name)}" (${relying_party}, added ${created_at.slice(0, 10)})`;
    if (await agrees(what, '--remove-passkeys')) passkeys.push(id);
  }
  return { totp, passkeys };
};

const named = (input: string | undefined, passkeys: LostPasskey[]): string[] => {
  if (input === undefined) return [];
  if (input === 'all') return passkeys.map(({ id }) => id);
  return input.split(',').flatMap((each) => {
    const found = passkeys.filter(({ id, name }) => [id, name].includes(each.trim()));
    if (found.length > 0) return found.map(({ id }) => id);
    const there = passkeys.map(({ name }) => safe(name)).join(', ') || 'none';
    throw usageFault(`No passkey is named "${safe(each.trim())}". Passkeys: ${there}`);
  });
};

const printRecovery = (
  { out }: Context,
  { username, disabled_at, totp, passkeys }: LostAccount,
  removed: Removals,
): void => {
  out.note(`The password of ${username} is set. Its login sessions and tokens have ended.`);
  if (disabled_at !== null) out.note('The account was disabled and is now enabled.');
  if (removed.totp) out.note('The authenticator app was removed. Logins need no code.');
  else if (totp === 1) out.note('Logins still need a code of the authenticator app.');
  const left = passkeys - removed.passkeys.length;
  if (removed.passkeys.length > 0) out.note(`Passkeys removed: ${removed.passkeys.length}.`);
  if (left > 0) out.note(`Passkeys that remain: ${left}.`);
  out.note('Next: adjutant up, adjutant login');
};

/** Undoes an upgrade. `src/rollback.ts` is loaded only here. */
export const rollback = command({
  name: 'rollback',
  args: '[snapshot]',
  summary: 'Restore the database snapshot made before an upgrade',
  examples: ['', 'before-43', 'before-43 --yes'],
  notes: [
    'Defaults to the newest snapshot. Later data is dropped: ' +
      'deliveries are written to a file, one JSON object per line, and the newer ' +
      'database is kept in aside/ of the home.',
    'As after a restore, nothing resumes by itself: agents are paused and scheduled ' +
      'hooks disabled.',
  ],
  seeAlso: 'adjutant down, adjutant help upgrade',
  run: async (context, { args }) => {
    const { openRollback } = await import('../../src/rollback.js');
    const home = resolveHome(context.flags.home);
    const what = 'Not rolled back';
    const attempt = <T>(work: () => T): T => {
      try {
        return work();
      } catch (error) {
        if (!(error instanceof Error && 'code' in error)) throw refusedAs(what, error);
        throw failed(`${what}: ${safe(error.message)}.`);
      }
    };
    const open = attempt(() => openRollback({ home }, args.snapshot));
    try {
      const { snapshot, since } = open;
      const at = new Date(snapshot.madeAtMs).toISOString();
      context.out.note(
        `${snapshot.name}, created ${at}: schema ${since.from} back to ${since.to}.`,
      );
      context.out.note(`It drops ${deliveriesIn(since.deliveries)} from after the snapshot.`);
      await context.ask.confirm('Roll back?');
      printRollback(context, attempt(open.perform));
    } finally {
      open.close();
    }
  },
});

const deliveriesIn = (deliveries: number): string =>
  deliveries === 1 ? '1 acknowledged delivery' : `${deliveries} acknowledged deliveries`;

const printRollback = ({ out }: Context, back: RollbackResult): void => {
  if (out.format !== 'table') {
    out.json(back);
    return;
  }
  out.line('Rolled back.');
  if (back.dropped !== null) out.note(`Dropped deliveries: ${back.dropped}`);
  out.note(`Newer database: ${back.aside}`);
  out.note(
    `Paused ${back.agents} agents, interrupted ${back.executions} executions, disabled ` +
      `${back.schedules} schedules and ${back.folders} watched folders.`,
  );
  out.note('Install the version that made the snapshot, then: adjutant up');
};
