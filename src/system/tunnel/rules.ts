import { isAbsolute } from 'node:path';
import { isUrl } from '../../kernel/egress.js';
import type { FieldFault } from '../../kernel/problem.js';
import { TEMPORARY } from '../../providers/tunnels/cloudflared.js';
import { HOST_KEY } from '../../providers/tunnels/hostkeys.js';
import type { ProviderName } from '../../providers/tunnels/providers.js';
import type { TunnelSettingsInput } from './contract.js';

type TunnelField = Exclude<keyof TunnelSettingsInput, 'provider' | 'publicUrl'>;

/** The settings of each provider beside the address. */
const TAKES: Record<ProviderName, TunnelField[]> = {
  cloudflared: ['name', 'token', 'credentialId'],
  ngrok: ['token', 'credentialId'],
  tailscale: [],
  ssh: ['target', 'sshPort', 'remotePort', 'identityFile', 'hostKeys'],
  proxy: [],
};

/** An origin. Input that a URL parser would tolerate, such as line breaks, is refused. */
const ADDRESS =
  /^https?:\/\/([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:.]+\])(:\d{1,5})?\/?$/;
/** Values that match cannot be taken for an option, or be interpreted by ssh in another way. */
const TARGET = /^([A-Za-z_][\w.-]*@)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/;
const NAME = /^[A-Za-z0-9][\w.-]*$/;
const PATH = /^\/[^\p{Cc}"'%\\]+$/u;
const TOKEN = /^[\w.=+/~-]{8,}$/;

/** Null if the address is not valid. */
export const parseOrigin = (address: string): string | null =>
  ADDRESS.test(address) && isUrl(address) ? new URL(address).origin : null;

export const tunnelFaults = (input: TunnelSettingsInput, fixedUrl: string | null): FieldFault[] => [
  ...useless(input),
  ...addressFaults(input, fixedUrl),
  ...missing(input, fixedUrl),
  ...shapes(input),
];

/** The path becomes part of a proxy configuration. */
export const fileFault = (path: 'certificate' | 'key', file = '/x'): FieldFault[] =>
  faultIf(
    !PATH.test(file) || /[\s;{}$]/.test(file),
    path,
    'must be an absolute path without special characters',
  );

/** nginx and Caddy need both files. */
export const pairFault = ({
  certificate,
  key,
}: Partial<Record<'certificate' | 'key', string>>): FieldFault[] => [
  ...faultIf(key !== undefined && certificate === undefined, 'certificate', 'is required with key'),
  ...faultIf(certificate !== undefined && key === undefined, 'key', 'is required with certificate'),
];

const useless = (input: TunnelSettingsInput): FieldFault[] =>
  [...new Set(Object.values(TAKES).flat())]
    .filter((field) => input[field] !== undefined && input[field] !== null)
    .filter((field) => !TAKES[input.provider].includes(field))
    .map((path) => ({ path, message: `is not used by ${input.provider}` }));

const addressFaults = (
  { publicUrl }: TunnelSettingsInput,
  fixedUrl: string | null,
): FieldFault[] => {
  if (publicUrl === undefined || publicUrl === null) return [];
  const origin = parseOrigin(publicUrl);
  if (origin === null) {
    const message = 'must be an address without a path, such as https://hooks.example.org';
    return [{ path: 'publicUrl', message }];
  }
  if (TEMPORARY.test(new URL(origin).hostname)) {
    return [{ path: 'publicUrl', message: 'is a temporary address, which ends with the tunnel' }];
  }
  const isOther = fixedUrl !== null && parseOrigin(fixedUrl) !== origin;
  return faultIf(isOther, 'publicUrl', `is already set by ADJUTANT_PUBLIC_URL: ${fixedUrl}`);
};

const missing = (input: TunnelSettingsInput, fixedUrl: string | null): FieldFault[] => {
  const { provider, name, token, credentialId, target, remotePort } = input;
  const isNamed = provider === 'cloudflared' && Boolean(name ?? token ?? credentialId);
  const isSsh = provider === 'ssh';
  const needsAddress = isNamed || isSsh || provider === 'proxy';
  return [
    ...faultIf(needsAddress && !(input.publicUrl ?? fixedUrl), 'publicUrl', 'is required'),
    ...faultIf(isSsh && target === undefined, 'target', 'is required'),
    ...faultIf(isSsh && remotePort === undefined, 'remotePort', 'is required'),
  ];
};

const shapes = (input: TunnelSettingsInput): FieldFault[] => {
  const { name, target, identityFile, hostKeys = [], token, credentialId } = input;
  const wrongKeys = hostKeys.filter((key) => !HOST_KEY.test(key));
  const isPath =
    identityFile === undefined || (isAbsolute(identityFile) && PATH.test(identityFile));
  return [
    ...faultIf(
      !NAME.test(name ?? 'x'),
      'name',
      'must consist of letters, digits, ".", "_" and "-", and begin with a letter or digit',
    ),
    ...faultIf(!TARGET.test(target ?? 'x'), 'target', 'must be a host, or user@host'),
    ...faultIf(!isPath, 'identityFile', 'must be an absolute path'),
    ...faultIf(wrongKeys.length > 0, 'hostKeys', 'must have the form ssh-ed25519 AAAA…'),
    ...faultIf(!TOKEN.test(token ?? 'xxxxxxxx'), 'token', 'must be the token only, without blanks'),
    ...faultIf(
      name && (token || credentialId),
      'name',
      'cannot be combined with a token. Send only one of them',
    ),
    ...faultIf(
      token && credentialId,
      'credentialId',
      'cannot be combined with token. Send only one of them',
    ),
  ];
};

const faultIf = (isWrong: unknown, path: string, message: string): FieldFault[] =>
  isWrong ? [{ path, message }] : [];
