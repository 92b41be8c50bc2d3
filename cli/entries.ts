import type { Command, Group } from './command.js';
import { work } from './work.js';

/** A first word of the command line. Its module is loaded only when it was typed. */
export interface Entry {
  name: string;
  alias?: string;
  summary: string;
  load(): Promise<Command | Group>;
}

/** Every command there is, as `adjutant --help` shows them. */
export const sections: { title: string; entries: Entry[] }[] = [
  {
    title: 'Start here',
    entries: [
      {
        name: 'quickstart',
        summary: 'An account, a first hook, and a line that fires it',
        load: async () => (await import('./commands/quickstart.js')).quickstart,
      },
      {
        name: 'demo',
        summary: 'Prove the main job once, on a scratch home',
        load: async () => (await import('./commands/demo.js')).demo,
      },
    ],
  },
  {
    title: 'The daemon',
    entries: [
      {
        name: 'serve',
        summary: 'Run it here, in the foreground',
        load: async () => (await import('./commands/serve.js')).serve,
      },
      {
        name: 'up',
        summary: 'Start it in the background',
        load: async () => (await import('./commands/up.js')).up,
      },
      {
        name: 'down',
        summary: 'Stop it; what runs is finished first',
        load: async () => (await import('./commands/down.js')).down,
      },
      {
        name: 'restart',
        summary: 'Stop it and start it again',
        load: async () => (await import('./commands/restart.js')).restart,
      },
      {
        name: 'status',
        summary: 'Whether it runs, and how it is',
        load: async () => (await import('./commands/status.js')).status,
      },
      {
        name: 'tui',
        summary: 'The desk: everything on one screen, as it happens',
        load: async () => (await import('./commands/tui.js')).tui,
      },
      {
        name: 'logs',
        summary: 'What it has to say',
        load: async () => (await import('./commands/logs.js')).logs,
      },
      {
        name: 'doctor',
        summary: 'Look for what is wrong, and say what to do',
        load: async () => (await import('./commands/doctor.js')).doctor,
      },
      {
        name: 'tunnel',
        summary: 'How others reach it from outside',
        load: async () => (await import('./commands/tunnel.js')).tunnel,
      },
      {
        name: 'rollback',
        summary: 'Go back to before an upgrade',
        load: async () => (await import('./commands/rollback.js')).rollback,
      },
      {
        name: 'recover',
        summary: 'A new password where every way in is lost',
        load: async () => (await import('./commands/recover.js')).recover,
      },
    ],
  },
  {
    title: 'Your account',
    entries: [
      {
        name: 'register',
        summary: 'Make an account; the first becomes the admin',
        load: async () => (await import('./commands/auth.js')).register,
      },
      {
        name: 'login',
        summary: 'Log in, and stay so between commands',
        load: async () => (await import('./commands/auth.js')).login,
      },
      {
        name: 'logout',
        summary: 'Log out, here and at the daemon',
        load: async () => (await import('./commands/auth.js')).logout,
      },
      {
        name: 'whoami',
        summary: 'Who you are, and where',
        load: async () => (await import('./commands/auth.js')).whoami,
      },
      {
        name: 'auth',
        summary: 'Your password and your login',
        load: async () => (await import('./commands/account.js')).account,
      },
      {
        name: 'auth sessions',
        summary: 'Where you are logged in',
        load: async () => (await import('./commands/logins.js')).logins,
      },
      {
        name: 'auth tokens',
        summary: 'Tokens with which programs act as you',
        load: async () => (await import('./commands/tokens.js')).tokens,
      },
      {
        name: 'auth totp',
        summary: 'Codes of an authenticator app as a second factor',
        load: async () => (await import('./commands/totp.js')).totp,
      },
      {
        name: 'auth passkeys',
        summary: 'Ways to log in without a password',
        load: async () => (await import('./commands/passkeys.js')).passkeys,
      },
    ],
  },
  { title: 'The work', entries: work },
  {
    title: 'More',
    entries: [
      {
        name: 'users',
        alias: 'user',
        summary: 'Who has an account, and what they may (admin)',
        load: async () => (await import('./commands/users.js')).users,
      },
      {
        name: 'users totp',
        summary: 'Authenticator apps that users lost (admin)',
        load: async () => (await import('./users/totp.js')).userTotp,
      },
      {
        name: 'users passkeys',
        summary: 'Passkeys that users lost (admin)',
        load: async () => (await import('./users/passkeys.js')).userPasskeys,
      },
      {
        name: 'invite',
        summary: 'Ask somebody in (admin)',
        load: async () => (await import('./commands/users.js')).invite,
      },
      {
        name: 'outbox',
        summary: 'What goes to channels and webhooks, and failures (admin)',
        load: async () => (await import('./commands/outbox.js')).outbox,
      },
      {
        name: 'audit',
        summary: 'Who did what, in a log that shows a change (admin)',
        load: async () => (await import('./commands/audit.js')).audit,
      },
      {
        name: 'backup',
        summary: 'Copies of everything: make, prove, restore',
        load: async () => (await import('./commands/backup.js')).backup,
      },
      {
        name: 'keys',
        summary: 'The keys that sign tokens (admin)',
        load: async () => (await import('./commands/keys.js')).keys,
      },
      {
        name: 'health',
        summary: 'Whether the daemon is well, part by part',
        load: async () => (await import('./commands/health.js')).health,
      },
      {
        name: 'api',
        summary: 'Any request to the API',
        load: async () => (await import('./commands/api.js')).api,
      },
      {
        name: 'completion',
        summary: 'Let your shell complete',
        load: async () => (await import('./commands/completion.js')).completion,
      },
      {
        name: 'help',
        summary: 'Help on a command or a topic',
        load: async () => (await import('./commands/help.js')).help,
      },
    ],
  },
];

const entries = sections.flatMap((section) => section.entries);

/** By the first two words of a command line, or its first. */
export const entryOf = ([first = '', second = '']: string[]): Entry | undefined =>
  entries.find(({ name }) => name === `${first} ${second}`) ??
  entries.find(({ name, alias }) => name === first || alias === first);

export const entryNames = (): string[] => entries.map(({ name }) => name);
