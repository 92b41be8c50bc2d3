/**
 * Which files may import which. Type-only imports count, except where a rule says otherwise.
 * `test/architecture.test.ts` runs the rules; `npx depcruise src cli tui web migrations` does too.
 */

/**
 * Modules of the server in opening order (src/modules.ts). Each imports only earlier ones. Other
 * folders of src/ are modules that need only the libraries, and that no other module imports.
 */
const LIBRARIES = ['kernel', 'store', 'providers'];
const MODULES = [
  ...LIBRARIES,
  ...['realtime', 'schedule', 'jobs', 'operations', 'secrets', 'vault', 'memories', 'knowledge'],
  ...[
    'documents',
    'tools',
    'outbound',
    'accounts',
    'orgs',
    'models',
    'capabilities',
    'permissions',
  ],
  ...['folders', 'approvals', 'experts', 'skills', 'agents', 'reader', 'research'],
  ...['tasks', 'hooks', 'pipelines', 'voice', 'channels', 'email', 'recurring', 'system', 'http'],
];
const oneOf = (names) => `(${names.join('|')})`;

const PRODUCT = '^(src|cli|tui|web|migrations)/';
/** Files that any module may import. */
const SETTINGS = '^src/(base|config|proxy|version)\\.ts$';
/** Procedures of all modules, which the threads of the database load. */
const PROCEDURES = '^src/procedures\\.ts$';
const PROCEDURE = '^src/[\\w/]+/procedures(\\.ts$|/\\w+\\.ts$)';
const CONTRACT = '^src/[\\w/]+/contract\\.ts$';
/** Threads load single files instead of whole modules. */
const THREADED = '^src/(hooks/(payloads|inbound)/|system/backup/|[\\w/]+/procedures(/|\\.ts$))';
/** Data of contracts that is not in a `contract.ts`. */
const CONTRACT_DATA =
  '^src/(hooks/senders/(presets|recipe)|models/facts|email/sending/fields)\\.ts$';

/** Project files that the files outside of the modules may import. */
const FLOORS = {
  '^migrations/': ['^migrations/'],
  '^src/api\\.ts$': [CONTRACT, '^src/kernel/'],
  '^src/(config|proxy|version)\\.ts$': ['^src/kernel/'],
  [PROCEDURES]: ['^src/store/', PROCEDURE],
  '^src/base\\.ts$': ['^src/(store|kernel)/'],
  '^src/modules\\.ts$': [
    '^migrations/',
    '^src/(\\w+/module|base|config|version)\\.ts$',
    `^src/${oneOf(LIBRARIES)}/`,
  ],
  '^src/resources\\.ts$': ['^src/(modules\\.ts$|kernel/|store/)'],
  '^src/lifecycle\\.ts$': ['^src/modules\\.ts$'],
  '^src/open\\.ts$': ['^migrations/', '^src/(config\\.ts|(secrets|store|kernel)/)'],
  '^src/app\\.ts$': ['^src/(?!main\\.ts|client/)'],
  '^src/(recover|rollback|backup|auditverify|operator)\\.ts$': [
    '^migrations/',
    '^src/(?!main\\.ts|app\\.ts|client/)',
  ],
  '^src/main\\.ts$': ['^src/((app|open|config|version)\\.ts$|(store|kernel)/)'],
  '^src/triggerlist\\.ts$': ['^(migrations|src/store)/'],
  '^src/bundle\\.ts$': ['^src/(main|kernel/codecache)\\.ts$'],
  '^src/client/': [
    ...['^src/(client/|api\\.ts|hooks/senders/)', CONTRACT],
    '^src/kernel/(contract/|(clock|exactjson|ids|jsonvalue|private)\\.ts)',
  ],
  '^tui/': [
    ...['^tui/', '^src/(client/|kernel/(clock|omittedparts|width)\\.ts$)'],
    // Text from outside, the clock, the editor and shared views are the same in both.
    '^cli/(text|columnmarks|editor|capabilities/machine|email/delivery|foreground|hooks/senders/form|operations/(bar|counts)|pipelines/tree|tunnel/reach)\\.ts$',
  ],
  '^web/': [
    ...[
      '^web/',
      '^cli/operations/counts\\.ts$',
      '^tui/(theme|parts/(times|zones))\\.ts$',
      CONTRACT,
    ],
    '^src/(api\\.ts$|client/replytext\\.ts$|kernel/((pagepath|jsonvalue|omittedparts)\\.ts$|contract/))',
  ],
};
const COMMANDS = [
  '^cli/',
  '^src/(client/|kernel/(asciidomain|clock|contract/url|nearest|normalform|omittedparts|passedover|private|shellword|sizetext|width)\\.ts)',
];
/** Commands that start the daemon, work without one, print its settings or open the desk. */
const DAEMON_COMMANDS = {
  '^cli/commands/serve\\.ts$': '^src/bundle\\.ts$',
  '^cli/commands/recover\\.ts$': '^src/(recover|rollback)\\.ts$',
  '^cli/commands/admin\\.ts$': '^src/auditverify\\.ts$',
  '^cli/commands/backup\\.ts$': '^src/backup\\.ts$',
  '^cli/commands/environment\\.ts$': '^src/config\\.ts$',
  // A tool's login is made by a person, in the HOME that the daemon will use.
  '^cli/models/groups\\.ts$': '^src/providers/clitools/login\\.ts$',
  '^cli/commands/tui\\.ts$': '^tui/(linear/desk|main|environment)\\.ts$',
};

/** The only files that may import a package. */
const PACKAGES = {
  'better-sqlite3': ['^src/store/', PROCEDURES, PROCEDURE],
  '@hapi/boom':
    '^src/((?!jobs/|providers/|realtime/|schedule/|secrets/|store/|tools/|client/|kernel/)\\w+/|kernel/(route|replay|raw|input|form|formdeadlines|jsonform|sharing)\\.ts$)',
  '(@hapi/(hapi|nes|inert|vision)|hapi-swagger)':
    '^src/(http/|app\\.ts$|kernel/(route|replay|input)\\.ts$)',
  commander: '^cli/',
  'markdown-it': '^src/providers/chat/markdown/',
  '(ink|react)': '^tui/',
  preact: '^web/',
  'web-push': '^src/channels/push/',
};
const installed = (name) => `node_modules/(@types/)?${name}/`;

/** A rule that the files `from` import no project files but those of `may`. */
const importsOnly = (name, from, may, pathNot = '^$') => ({
  name,
  severity: 'error',
  from: { path: from, pathNot },
  to: { path: `${PRODUCT}|^test/`, pathNot: may },
});

const modules = [
  ...MODULES.map((name, at) =>
    importsOnly(`module ${name}`, `^src/${name}/`, [
      `^src/${oneOf(MODULES.slice(0, at + 1))}/`,
      SETTINGS,
      ...(name === 'store' ? [PROCEDURES] : []),
      ...(name === 'http' ? ['^src/api\\.ts$'] : []),
    ]),
  ),
  importsOnly(
    'other modules',
    '^src/(\\w+)/',
    [`^src/${oneOf(LIBRARIES)}/`, '^src/$1/', SETTINGS],
    ['^src/client/', `^src/${oneOf(MODULES)}/`],
  ),
];

const floors = [
  ...Object.entries(FLOORS).map(([from, may]) => importsOnly(`files ${from}`, from, may)),
  importsOnly('commands', '^cli/', COMMANDS, Object.keys(DAEMON_COMMANDS)),
  ...Object.entries(DAEMON_COMMANDS).map(([from, may]) =>
    importsOnly(`command ${from}`, from, [...COMMANDS, may]),
  ),
];

const packages = Object.entries(PACKAGES).map(([name, only]) => ({
  name: `package ${name}`,
  severity: 'error',
  from: { path: PRODUCT, pathNot: only },
  to: { path: installed(name) },
}));

module.exports = {
  forbidden: [
    ...modules,
    ...floors,
    ...packages,
    {
      name: 'place for every file',
      comment: 'A new file in src needs a place in FLOORS.',
      severity: 'error',
      from: {
        path: '^src/[^/]+$',
        pathNot: Object.keys(FLOORS),
      },
      to: {},
    },
    {
      name: 'faces of other modules',
      severity: 'error',
      from: { path: '^src/(\\w+)/', pathNot: ['^src/client/', THREADED] },
      to: {
        path: `^src/(?!${oneOf(LIBRARIES)}/)\\w+/`,
        pathNot: ['^src/$1/', '^src/\\w+/module\\.ts$', CONTRACT],
      },
    },
    {
      name: 'language of contracts',
      severity: 'error',
      from: { path: [CONTRACT, CONTRACT_DATA] },
      to: {
        pathNot: [
          ...['^src/kernel/contract/', CONTRACT_DATA, installed('joi')],
          '^src/hooks/(executions|inbound|replies|senders)/contract\\.ts$',
        ],
      },
    },
    {
      name: 'packages of the client',
      comment: 'The client works where the server is not installed.',
      severity: 'error',
      from: { path: '^src/client/' },
      to: { path: 'node_modules/', pathNot: installed('(joi|lossless-json|ws)'), reachable: true },
    },
    {
      name: 'server code in the page',
      severity: 'error',
      from: { path: '^web/' },
      to: {
        path: '^src/',
        pathNot: '^src/(kernel/(pagepath|jsonvalue|omittedparts)|client/replytext)\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
  ],
  options: {
    // Otherwise it also searches circles, in a third of the time. A test does so faster.
    skipAnalysisNotInRules: true,
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
