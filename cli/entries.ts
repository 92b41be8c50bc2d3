import type { Command, Group } from './command.js';

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
        name: 'logs',
        summary: 'What it has to say',
        load: async () => (await import('./commands/logs.js')).logs,
      },
      {
        name: 'doctor',
        summary: 'Look for what is wrong, and say what to do',
        load: async () => (await import('./commands/doctor.js')).doctor,
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
  {
    title: 'The work',
    entries: [
      {
        name: 'hooks',
        alias: 'hook',
        summary: 'What happens when a signed webhook arrives',
        load: async () => (await import('./commands/hooks.js')).hooks,
      },
      {
        name: 'agents',
        alias: 'agent',
        summary: 'The runs that hooks and you began',
        load: async () => (await import('./commands/agents.js')).agents,
      },
      {
        name: 'sessions',
        summary: 'Conversations and their messages',
        load: async () => (await import('./commands/sessions.js')).sessions,
      },
      {
        name: 'notifications',
        alias: 'notif',
        summary: 'What Adjutant has told you',
        load: async () => (await import('./commands/notifications.js')).notifications,
      },
    ],
  },
  {
    title: 'More',
    entries: [
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
        name: 'help',
        summary: 'Help on a command or a topic',
        load: async () => (await import('./commands/help.js')).help,
      },
    ],
  },
];

const entries = sections.flatMap((section) => section.entries);

/** By the first word of a command line, or its first two. */
export const entryOf = ([first = '', second = '']: string[]): Entry | undefined =>
  entries.find(({ name, alias }) => name === first || alias === first) ??
  entries.find(({ name }) => name === `${first} ${second}`);

export const entryNames = (): string[] => entries.map(({ name }) => name);
