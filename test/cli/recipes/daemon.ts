import { join } from 'node:path';
import type { Recipes } from './recipe.js';
import type { Scene } from './scene.js';

const PASSPHRASE = 'a passphrase for keys';

const backups = new WeakMap<Scene, ReturnType<typeof makeBackup>>();

/** The backup of a scene, which no command that is tried on it changes. */
const backup = (scene: Scene): ReturnType<typeof makeBackup> => {
  const made = backups.get(scene) ?? makeBackup(scene);
  backups.set(scene, made);
  return made;
};

const makeBackup = async ({ ada, world, name }: Scene) => {
  const folder = join(world.app.home, name());
  const { id } = await ada.client.backups.create({ body: { passphrase: PASSPHRASE, folder } });
  for (;;) {
    const made = await ada.client.backups.get({ id, query: { wait: 20 } });
    if (made.status !== 'running') return made;
  }
};

export const daemon: Recipes = {
  status: { words: ({ world }) => ['--home', world.app.home], isOpen: true, json: 'its own' },
  logs: { words: () => ['--remote'], json: 'lines', isText: true },
  doctor: {
    words: ({ world }) => ['--home', world.app.home],
    exit: 1,
    isOpen: true,
    json: 'its own',
  },
  'tunnel get': {},
  'tunnel setup': {
    words: () => ['--provider', 'proxy', '--public-url', 'http://127.0.0.1:1'],
    answers: ['q', 'q'],
    reply: 'tunnel check',
    exit: 1,
  },
  'tunnel set': { words: () => ['--provider', 'cloudflared'] },
  'tunnel start': {},
  'tunnel stop': {},
  'tunnel check': { exit: 1 },
  'tunnel config': {
    words: () => ['caddy', '--public-url', 'https://hooks.example.org'],
    isText: true,
  },
  'tunnel address': {},
  'tunnel forget': { words: () => ['--yes'] },
  'tunnel programs': {},
  'tunnel host-keys': { words: () => ['127.0.0.1', '--ssh-port', '1'], exit: 1 },
  'backup create': {
    words: ({ world, name }) => ['--to', join(world.app.home, name()), '--passphrase-file', '-'],
    stdin: PASSPHRASE,
  },
  'backup list': { needs: (scene) => backup(scene) },
  'backup verify': {
    words: async (scene) => [(await backup(scene)).file, '--passphrase-file', '-'],
    stdin: PASSPHRASE,
    isOpen: true,
    json: 'its own',
  },
  'backup restore': {
    words: async (scene) => [
      ...['--home', join(scene.world.app.home, scene.name())],
      ...[(await backup(scene)).file, '--passphrase-file', '-'],
    ],
    stdin: PASSPHRASE,
    isOpen: true,
    json: 'its own',
  },
  'backup schedule': { json: 'its own' },
  'backup cancel': { words: async (scene) => [(await backup(scene)).id], exit: 1 },
  health: { words: () => ['detailed'], isOpen: true },
  api: { words: () => ['GET', '/api/hooks'], json: 'its own', isText: true },
  completion: { words: () => ['bash'], isOpen: true, json: 'nothing', isText: true },
  help: { words: () => ['hooks', 'create'], isOpen: true, json: 'nothing' },
};

const PROCESS = 'a process of its own: test/cli/daemon';

/** Commands that are not tried in this process, and where they are. */
export const elsewhere: Record<string, string> = {
  quickstart: `${PROCESS}/quickstart.test.ts`,
  demo: `${PROCESS}/demo.test.ts`,
  serve: `${PROCESS}/up.test.ts`,
  up: `${PROCESS}/up.test.ts`,
  down: `${PROCESS}/up.test.ts`,
  restart: `${PROCESS}/up.test.ts`,
  tui: 'a screen: test/tui',
  rollback: 'takes the place of the daemon: test/cli/commands/rollback.test.ts',
  recover: 'takes the place of the daemon: test/cli/commands/recover.test.ts',
  'models cli login': 'hands its terminal to the tool: test/cli/models/tools.test.ts',
};
