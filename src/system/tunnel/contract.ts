import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

const provider = () =>
  s.oneOf('TunnelProvider', 'cloudflared', 'ngrok', 'tailscale', 'ssh', 'proxy');
const port = () => s.whole(1, 65_535);
const address = () => s.text(300).description('As https://hooks.example.org');
const sentence = () => s.anyText(2000);
const reach = () =>
  s
    .oneOf('TunnelReach', 'none', 'unverified', 'verified', 'failed')
    .description('By the last check of the address; unverified: none was made, or it is not up');

/** Settings that a provider may need beside the address. */
const settings = {
  name: s.optional(s.text(100).description('Of a tunnel made with cloudflared tunnel create')),
  target: s.optional(s.text(300).description('Of ssh: ada@box.example.org')),
  sshPort: s.optional(port()),
  remotePort: s.optional(port().description('Where the forward listens on the server')),
  identityFile: s.optional(s.text(1000).description('Private key for ssh, an absolute path')),
  hostKeys: s.optional(s.list(s.text(2100), 5).description('As tunnel host-keys shows them')),
};

/** The stages of the check, in their order. */
export const STAGES = [
  'name',
  'certificate',
  'reaches us',
  'unsigned',
  'signed',
  'exposed',
] as const;
const StageName = () => s.oneOf('TunnelStageName', ...STAGES);

const Stage = s.object('TunnelStage', {
  name: StageName(),
  status: s.oneOf('TunnelStageStatus', 'ok', 'warn', 'failed', 'not_run'),
  detail: sentence(),
  latencyMs: s.nullable(s.whole(0, 1_000_000)),
});

const TunnelCheck = s.object('TunnelCheck', {
  ok: s.flag().description('No stage failed'),
  address: address(),
  checkedAt: s.time(),
  stages: s.list(Stage, 6),
  failure: s
    .nullable(
      s.object('TunnelFailure', {
        stage: StageName(),
        seen: sentence(),
        cause: sentence(),
        remedy: sentence(),
      }),
    )
    .description('Of the first stage that failed'),
});
export type TunnelCheck = s.Static<typeof TunnelCheck>;

const state = {
  provider: s.nullable(provider()).description('null: nothing is set up'),
  ...settings,
  publicUrl: s.nullable(address()).description('The lasting address'),
  publicUrlSetting: s.flag().description('ADJUTANT_PUBLIC_URL says it: read-only here'),
  address: s.nullable(address()).description('Where we are reached now; it may be temporary'),
  reach: reach(),
  tokenSet: s.flag(),
  credentialId: s.nullable(s.id('credential')),
  on: s.flag(),
  status: s.oneOf('TunnelStatus', 'off', 'starting', 'running', 'restarting'),
  since: s.nullable(s.time()),
  detail: s.nullable(sentence()).description('Why it is not up'),
  pid: s.nullable(s.whole(0, Number.MAX_SAFE_INTEGER)),
  restarts: s.whole(0, Number.MAX_SAFE_INTEGER),
  nextTryAt: s.nullable(s.time()),
  addressHeader: s
    .nullable(s.text(60))
    .description('Where it tells the address of a client; null: nowhere, so no limits per address'),
  upstream: s.text(60).description('Where a proxy sends requests'),
  check: s.nullable(TunnelCheck).description('The last one since the start'),
  log: s.list(s.object('TunnelLine', { at: s.time(), line: s.anyText(1000) }), 200),
};

const TunnelView = s.object('Tunnel', state);
export type TunnelView = s.Static<typeof TunnelView>;

const given = {
  provider: provider(),
  publicUrl: s.optional(s.nullable(address())).description('The lasting address; null: none'),
  ...settings,
  token: s
    .optional(s.nullable(s.text(4000)))
    .description('cloudflared and ngrok; never shown again'),
  credentialId: s
    .optional(s.nullable(s.id('credential')))
    .description('A vault entry in its place'),
};
const TunnelSettingsInput = s.ignoring(
  s.object('TunnelSettings', given),
  ...[...Object.keys(state), 'passkeysLost'].filter((field) => !(field in given)),
);
export type TunnelSettingsInput = s.Static<typeof TunnelSettingsInput>;

const Configured = s.object('TunnelConfigured', {
  ...state,
  passkeysLost: s
    .list(
      s.object('LostPasskey', {
        username: s.text(300),
        name: s.text(300),
        relyingParty: s.text(300),
      }),
    )
    .description('Those that do not work under the new address'),
});
export type ConfiguredTunnel = s.Static<typeof Configured>;

export const tunnel = contract({
  get: endpoint.get('/api/tunnel', {
    summary: 'How others reach this daemon, and how that stands',
    access: 'admin',
    reply: TunnelView,
  }),
  set: endpoint.put('/api/tunnel', {
    summary: 'Say how others reach this daemon; what is on starts anew',
    access: 'admin',
    audit: 'tunnel.set',
    example: { provider: 'proxy', publicUrl: 'https://adjutant.example.org' },
    body: TunnelSettingsInput,
    reply: Configured,
  }),
  start: endpoint.post('/api/tunnel/start', {
    summary: 'Switch it on, now and after each start of the daemon',
    access: 'admin',
    audit: 'tunnel.start',
    reply: TunnelView,
  }),
  stop: endpoint.post('/api/tunnel/stop', {
    summary: 'Switch it off',
    access: 'admin',
    audit: 'tunnel.stop',
    reply: TunnelView,
  }),
  check: endpoint.post('/api/tunnel/check', {
    summary: 'Go the whole way from outside in, stage by stage',
    access: 'admin',
    audit: 'tunnel.check',
    reply: TunnelCheck,
  }),
  address: endpoint.get('/api/tunnel/address', {
    summary: 'Where others reach this daemon',
    reply: s.object('TunnelAddress', {
      address: s.nullable(address()),
      isTemporary: s.flag().description('It changes at the next start'),
      publicUrlSetting: s.flag().description('ADJUTANT_PUBLIC_URL says it: read-only here'),
      reach: reach(),
    }),
  }),
  forget: endpoint.delete('/api/tunnel/address', {
    summary: 'Forget the public address and switch the tunnel off: links name this machine again',
    access: 'admin',
    audit: 'tunnel.forget',
    reply: Configured,
  }),
  programs: endpoint.get('/api/tunnel/programs', {
    summary: 'Which programs for tunnels and proxies are installed',
    access: 'admin',
    reply: s.object('TunnelPrograms', {
      programs: s.list(
        s.object('TunnelProgram', {
          name: s.oneOf(
            'TunnelProgramName',
            ...(['cloudflared', 'ngrok', 'tailscale', 'ssh', 'caddy', 'nginx'] as const),
          ),
          path: s.nullable(s.text(4096)).description('null: not installed'),
          version: s.nullable(s.text(200)),
        }),
        10,
      ),
    }),
  }),
  'host-keys': endpoint.post('/api/tunnel/host-keys', {
    summary: 'The keys that an ssh server shows, to be compared before they are trusted',
    access: 'admin',
    audit: 'tunnel.host-keys',
    example: { target: 'ada@box.example.org', sshPort: 22 },
    body: s.object('HostKeysOf', { target: s.text(300), sshPort: s.optional(port()) }),
    reply: s.object('HostKeys', {
      hostKeys: s.list(s.object('HostKey', { key: s.text(2100), fingerprint: s.text(100) }), 20),
    }),
  }),
  config: endpoint.get('/api/tunnel/config', {
    summary: 'A configuration for the proxy in front that works as it is',
    access: 'admin',
    query: s.formerly(
      s.object('TunnelConfigQuery', {
        proxy: s.oneOf('ProxyServer', 'caddy', 'nginx'),
        publicUrl: s.optional(address()),
        certificate: s.optional(
          s.text(1000).description('Its file on the proxy; else the usual one'),
        ),
        key: s.optional(s.text(1000).description('Its private key on the proxy')),
      }),
      { server: 'proxy' },
    ),
    reply: s.object('TunnelConfig', { text: s.text(20_000) }),
  }),
});
