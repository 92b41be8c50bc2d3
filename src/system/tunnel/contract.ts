import { contract, endpoint } from '../../kernel/contract/endpoint.js';
import * as s from '../../kernel/contract/schema.js';

const provider = () =>
  s.oneOf('TunnelProvider', 'cloudflared', 'ngrok', 'tailscale', 'ssh', 'proxy');
const port = () => s.integer(1, 65_535);
const address = () => s.url(300).description('Public address, such as `https://hooks.example.org`');
const currentAddress = () =>
  s
    .nullable(address())
    .description('Current public address, which may be temporary. `null` if there is none');
const sentence = () => s.anyText(2000);
const reach = () =>
  s
    .oneOf('TunnelReach', 'none', 'unverified', 'verified', 'failed')
    .description(
      'Result of the last check of the address. `none` if there is no address. `unverified` if the address was not checked, or the tunnel is not running',
    );

const settings = {
  name: s.optional(
    s.text(100).description('Name of a tunnel that was created with `cloudflared tunnel create`'),
  ),
  target: s.optional(s.text(300).description('SSH server, such as `ada@box.example.org`')),
  sshPort: s.optional(port()),
  remotePort: s.optional(port().description('Port on the SSH server at which the forward listens')),
  identityFile: s.optional(s.text(1000).description('Absolute path of the private key for ssh')),
  hostKeys: s.optional(
    s
      .list(s.text(2100), 5)
      .description(
        'Accepted host keys of the SSH server, as `POST /api/tunnel/host-keys` returns them',
      ),
  ),
};

/** In the order in which they run. */
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
  latencyMs: s
    .nullable(s.integer(0, 1_000_000))
    .description('Duration of the stage, in milliseconds. `null` if not measured'),
});

const TunnelCheck = s.object('TunnelCheck', {
  ok: s
    .boolean()
    .description('Whether no stage failed. Stages with the status `warn` count as successful'),
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
    .description('Details of the first failed stage. `null` if no stage failed'),
});
export type TunnelCheck = s.Static<typeof TunnelCheck>;

const state = {
  provider: s
    .nullable(provider())
    .description('Provider of the tunnel. `null` if no tunnel is set up'),
  ...settings,
  publicUrl: s.nullable(address()).description('Permanent public address. `null` if there is none'),
  publicUrlSetting: s
    .boolean()
    .description(
      'Whether `ADJUTANT_PUBLIC_URL` sets the address. If true, the API cannot change the address',
    ),
  address: currentAddress(),
  reach: reach(),
  tokenSet: s.boolean().description('Whether a token is stored'),
  credentialId: s
    .nullable(s.id('credential'))
    .description(
      'ID of the vault credential that contains the token. `null` if the token is not in the vault. See `tokenSet`',
    ),
  on: s
    .boolean()
    .description(
      'Whether the tunnel is set to run, also after a restart of the daemon. `status` is the current state',
    ),
  status: s.oneOf('TunnelStatus', 'off', 'starting', 'running', 'restarting'),
  since: s
    .nullable(s.time())
    .description(
      'Time of the last change of `status`. `null` if `status` has not changed since the start of the daemon',
    ),
  detail: s
    .nullable(sentence())
    .description('Reason why the tunnel is not running. `null` if there is none'),
  pid: s
    .nullable(s.integer(0, Number.MAX_SAFE_INTEGER))
    .description('Process ID of the tunnel program. `null` if no program is running'),
  restarts: s.integer(0, Number.MAX_SAFE_INTEGER),
  nextTryAt: s
    .nullable(s.time())
    .description(
      'Time of the next attempt to start the tunnel program. `null` if no attempt is scheduled',
    ),
  addressHeader: s
    .nullable(s.text(60))
    .description(
      'Header that carries the client address. `null` if the provider sends none, so that limits per address do not apply',
    ),
  upstream: s.text(60).description('Address to which a proxy must send requests'),
  check: s
    .nullable(TunnelCheck)
    .description(
      'Last check since the start of the daemon and the last change of the configuration. `null` if there was none',
    ),
  log: s.list(s.object('TunnelLine', { at: s.time(), line: s.anyText(1000) }), 200),
};

const TunnelView = s.object('Tunnel', state);
export type TunnelView = s.Static<typeof TunnelView>;

const settingsInput = {
  provider: provider(),
  publicUrl: s
    .optional(s.nullable(address()))
    .description('Permanent public address. `null` if there is none'),
  ...settings,
  token: s
    .optional(s.nullable(s.text(4000)))
    .description('Token for cloudflared or ngrok. Write-only. `null` removes the token'),
  credentialId: s
    .optional(s.nullable(s.id('credential')))
    .description(
      'ID of a vault credential to use instead of `token`. `null` removes the reference',
    ),
};
const TunnelSettingsInput = s.ignoreReadOnly(
  s.object('TunnelSettings', settingsInput),
  ...[...Object.keys(state), 'passkeysLost'].filter((field) => !(field in settingsInput)),
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
    .description('Passkeys that no longer work because the address was changed or deleted'),
});
export type ConfiguredTunnel = s.Static<typeof Configured>;

export const tunnel = contract({
  get: endpoint.get('/api/tunnel', {
    summary: 'Get the tunnel status and configuration',
    access: 'admin',
    reply: TunnelView,
  }),
  set: endpoint.put('/api/tunnel', {
    summary: 'Set the tunnel configuration',
    description:
      'Omitted fields are removed. The stored token or credential is kept if `provider` stays the same and the request contains no `token`, `credentialId` or `name`. If the tunnel is on, the tunnel is restarted.',
    access: 'admin',
    audit: 'tunnel.set',
    example: { provider: 'proxy', publicUrl: 'https://adjutant.example.org' },
    body: TunnelSettingsInput,
    reply: Configured,
  }),
  start: endpoint.post('/api/tunnel/start', {
    summary: 'Start the tunnel',
    description: 'The tunnel is started again after each restart of the daemon.',
    access: 'admin',
    audit: 'tunnel.start',
    reply: TunnelView,
  }),
  stop: endpoint.post('/api/tunnel/stop', {
    summary: 'Stop the tunnel',
    access: 'admin',
    audit: 'tunnel.stop',
    reply: TunnelView,
  }),
  check: endpoint.post('/api/tunnel/check', {
    summary: 'Test the connection to the public address',
    description:
      'Tests the connection from the public name to this daemon in stages. The stages after the first failure do not run.',
    access: 'admin',
    audit: 'tunnel.check',
    reply: TunnelCheck,
  }),
  address: endpoint.get('/api/tunnel/address', {
    summary: 'Get the public address of the daemon',
    reply: s.object('TunnelAddress', {
      address: currentAddress(),
      isTemporary: s
        .boolean()
        .description('Whether the address is temporary, so that it may change at the next start'),
      publicUrlSetting: s
        .boolean()
        .description(
          'Whether `ADJUTANT_PUBLIC_URL` sets the address. If true, the API cannot change the address',
        ),
      reach: reach(),
    }),
  }),
  forget: endpoint.delete('/api/tunnel/address', {
    summary: 'Delete the public address',
    description: 'Also stops the tunnel. Links then contain the local address of the daemon.',
    access: 'admin',
    audit: 'tunnel.forget',
    reply: Configured,
  }),
  programs: endpoint.get('/api/tunnel/programs', {
    summary: 'List supported tunnel and proxy programs',
    access: 'admin',
    reply: s.object('TunnelPrograms', {
      programs: s.list(
        s.object('TunnelProgram', {
          name: s.oneOf(
            'TunnelProgramName',
            ...(['cloudflared', 'ngrok', 'tailscale', 'ssh', 'caddy', 'nginx'] as const),
          ),
          path: s
            .nullable(s.text(4096))
            .description('Path of the program. `null` if the program is not installed'),
          version: s
            .nullable(s.text(200))
            .description('Version of the program. `null` if not known'),
        }),
        10,
      ),
    }),
  }),
  'host-keys': endpoint.post('/api/tunnel/host-keys', {
    summary: "Get an SSH server's host keys without accepting them",
    description:
      'Requests the public keys from the server without accepting them. Compare the returned fingerprints with the fingerprints on the SSH server before you send the keys to `PUT /api/tunnel`.',
    access: 'admin',
    audit: 'tunnel.host-keys',
    example: { target: 'ada@box.example.org', sshPort: 22 },
    body: s.object('HostKeysOf', { target: s.text(300), sshPort: s.optional(port()) }),
    reply: s.object('HostKeys', {
      hostKeys: s.list(s.object('HostKey', { key: s.text(2100), fingerprint: s.text(100) }), 20),
    }),
  }),
  config: endpoint.get('/api/tunnel/config', {
    summary: 'Get a reverse proxy configuration for Caddy or nginx',
    access: 'admin',
    query: s.acceptFormerNames(
      s.object('TunnelConfigQuery', {
        proxy: s.oneOf('ProxyServer', 'caddy', 'nginx'),
        publicUrl: s.optional(
          address().description(
            'Public address of the proxy, such as `https://hooks.example.org`. Defaults to the public address of the daemon',
          ),
        ),
        certificate: s.optional(
          s
            .text(1000)
            .description(
              'Path of the certificate file on the proxy. Requires `key`. By default, Caddy obtains a certificate automatically, and nginx uses the certificate path of certbot',
            ),
        ),
        key: s.optional(
          s
            .text(1000)
            .description('Path of the private key file on the proxy. Requires `certificate`'),
        ),
      }),
      { server: 'proxy' },
    ),
    reply: s.object('TunnelConfig', { text: s.text(20_000) }),
  }),
});
