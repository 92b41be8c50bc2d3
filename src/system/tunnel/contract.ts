import { contract } from '../../kernel/contract/endpoint.js';
import {
  anyText,
  flag,
  formerly,
  id,
  ignoring,
  list,
  nullable,
  object,
  oneOf,
  optional,
  type Static,
  text,
  time,
  whole,
} from '../../kernel/contract/schema.js';

const provider = () => oneOf('TunnelProvider', 'cloudflared', 'ngrok', 'tailscale', 'ssh', 'proxy');
const port = () => whole(1, 65_535);
const address = () => text(300).description('As https://hooks.example.org');
const sentence = () => anyText(2000);
const reach = () =>
  oneOf('TunnelReach', 'none', 'unverified', 'verified', 'failed').description(
    'By the last check of the address; unverified: none was made, or it is not up',
  );

/** Settings that a provider may need beside the address. */
const settings = {
  name: optional(text(100).description('Of a tunnel made with cloudflared tunnel create')),
  target: optional(text(300).description('Of ssh: ada@box.example.org')),
  sshPort: optional(port()),
  remotePort: optional(port().description('Where the forward listens on the server')),
  identityFile: optional(text(1000).description('Private key for ssh, an absolute path')),
  hostKeys: optional(list(text(2100), 5).description('As tunnel host-keys shows them')),
};

const TunnelSettingsInput = ignoring(
  object('TunnelSettings', {
    provider: provider(),
    publicUrl: optional(nullable(address())).description('The lasting address; null: none'),
    ...settings,
    token: optional(nullable(text(4000))).description('cloudflared and ngrok; never shown again'),
    credentialId: optional(nullable(id('credential'))).description('A vault entry in its place'),
  }),
  ...[
    'on',
    'tokenSet',
    'address',
    'reach',
    'status',
    'since',
    'detail',
    'pid',
    'restarts',
    'nextTryAt',
  ],
  ...['addressHeader', 'upstream', 'check', 'log', 'publicUrlSetting', 'passkeysLost'],
);
export type TunnelSettingsInput = Static<typeof TunnelSettingsInput>;

const StageName = () =>
  oneOf('TunnelStageName', 'name', 'certificate', 'reaches us', 'unsigned', 'signed', 'exposed');

const Stage = object('TunnelStage', {
  name: StageName(),
  status: oneOf('TunnelStageStatus', 'ok', 'warn', 'failed', 'not_run'),
  detail: sentence(),
  latencyMs: nullable(whole(0, 1_000_000)),
});

const TunnelCheck = object('TunnelCheck', {
  ok: flag().description('No stage failed'),
  address: address(),
  checkedAt: time(),
  stages: list(Stage, 6),
  failure: nullable(
    object('TunnelFailure', {
      stage: StageName(),
      seen: sentence(),
      cause: sentence(),
      remedy: sentence(),
    }),
  ).description('Of the first stage that failed'),
});
export type TunnelCheck = Static<typeof TunnelCheck>;

const state = {
  provider: nullable(provider()).description('null: nothing is set up'),
  ...settings,
  publicUrl: nullable(address()).description('The lasting address'),
  publicUrlSetting: flag().description('ADJUTANT_PUBLIC_URL says it: read-only here'),
  address: nullable(address()).description('Where we are reached now; it may be temporary'),
  reach: reach(),
  tokenSet: flag(),
  credentialId: nullable(id('credential')),
  on: flag(),
  status: oneOf('TunnelStatus', 'off', 'starting', 'running', 'restarting'),
  since: nullable(time()),
  detail: nullable(sentence()).description('Why it is not up'),
  pid: nullable(whole(0, Number.MAX_SAFE_INTEGER)),
  restarts: whole(0, Number.MAX_SAFE_INTEGER),
  nextTryAt: nullable(time()),
  addressHeader: nullable(text(60)).description(
    'Where it tells the address of a client; null: nowhere, so no limits per address',
  ),
  upstream: text(60).description('Where a proxy sends requests'),
  check: nullable(TunnelCheck).description('The last one since the start'),
  log: list(object('TunnelLine', { at: time(), line: anyText(1000) }), 200),
};

const TunnelView = object('Tunnel', state);
export type TunnelView = Static<typeof TunnelView>;

const Configured = object('TunnelConfigured', {
  ...state,
  passkeysLost: list(
    object('LostPasskey', { username: text(300), name: text(300), relyingParty: text(300) }),
  ).description('Those that do not work under the new address'),
});

export const tunnel = contract({
  get: {
    method: 'GET',
    path: '/api/tunnel',
    summary: 'How others reach this daemon, and how that stands',
    access: 'admin',
    reply: TunnelView,
  },
  set: {
    method: 'PUT',
    path: '/api/tunnel',
    summary: 'Say how others reach this daemon; what is on starts anew',
    access: 'admin',
    audit: 'tunnel.set',
    example: { provider: 'proxy', publicUrl: 'https://adjutant.example.org' },
    body: TunnelSettingsInput,
    reply: Configured,
  },
  start: {
    method: 'POST',
    path: '/api/tunnel/start',
    summary: 'Switch it on, now and after each start of the daemon',
    access: 'admin',
    audit: 'tunnel.start',
    reply: TunnelView,
  },
  stop: {
    method: 'POST',
    path: '/api/tunnel/stop',
    summary: 'Switch it off',
    access: 'admin',
    audit: 'tunnel.stop',
    reply: TunnelView,
  },
  check: {
    method: 'POST',
    path: '/api/tunnel/check',
    summary: 'Go the whole way from outside in, stage by stage',
    access: 'admin',
    audit: 'tunnel.check',
    reply: TunnelCheck,
  },
  address: {
    method: 'GET',
    path: '/api/tunnel/address',
    summary: 'Where others reach this daemon',
    reply: object('TunnelAddress', {
      address: nullable(address()),
      isTemporary: flag().description('It changes at the next start'),
      reach: reach(),
    }),
  },
  forget: {
    method: 'DELETE',
    path: '/api/tunnel/address',
    summary: 'Forget the public address and switch the tunnel off: links name this machine again',
    access: 'admin',
    audit: 'tunnel.forget',
    reply: Configured,
  },
  programs: {
    method: 'GET',
    path: '/api/tunnel/programs',
    summary: 'Which programs for tunnels and proxies are installed',
    access: 'admin',
    reply: object('TunnelPrograms', {
      programs: list(
        object('TunnelProgram', {
          name: oneOf(
            'TunnelProgramName',
            ...(['cloudflared', 'ngrok', 'tailscale', 'ssh', 'caddy', 'nginx'] as const),
          ),
          path: nullable(text(4096)).description('null: not installed'),
          version: nullable(text(200)),
        }),
        10,
      ),
    }),
  },
  'host-keys': {
    method: 'POST',
    path: '/api/tunnel/host-keys',
    summary: 'The keys that an ssh server shows, to be compared before they are trusted',
    access: 'admin',
    audit: 'tunnel.host-keys',
    example: { target: 'ada@box.example.org', sshPort: 22 },
    body: object('HostKeysOf', { target: text(300), sshPort: optional(port()) }),
    reply: object('HostKeys', {
      hostKeys: list(object('HostKey', { key: text(2100), fingerprint: text(100) }), 20),
    }),
  },
  config: {
    method: 'GET',
    path: '/api/tunnel/config',
    summary: 'A configuration for the proxy in front that works as it is',
    access: 'admin',
    query: formerly(
      object('TunnelConfigQuery', {
        proxy: oneOf('ProxyServer', 'caddy', 'nginx'),
        publicUrl: optional(address()),
        certificate: optional(text(1000).description('Its file on the proxy; else the usual one')),
        key: optional(text(1000).description('Its private key on the proxy')),
      }),
      { server: 'proxy' },
    ),
    reply: object('TunnelConfig', { text: text(20_000) }),
  },
});
