import {
  contracts,
  type Org,
  type OrgDomain,
  type ScimLogEntry,
  type SsoSettings,
} from '../../src/client/index.js';
import { buildColumns } from '../columns.js';
import { type CommandGroup, textFlag } from '../command.js';
import { readFileOrStdin } from '../input.js';
import { listCommand, requestCommand } from '../request.js';
import { localTime, safe } from '../text.js';
import { orgCrud } from './orgs.js';

const sso = await contracts.sso();
const scim = await contracts.scim();

const ssoColumns = buildColumns<SsoSettings>(
  ['enabled', 'enforced', 'entityId', 'ssoUrl'],
  { name: 'certificates', value: ({ certificates }) => certificates.length },
  { name: 'domains', value: ({ domains }) => domains.join(' ') },
  ['defaultRole', 'allowIdpInitiated', 'tokenDays', 'our entity ID=serviceProvider.entityId'],
  ['our address=serviceProvider.acsUrl', 'changed=updatedAt:ago'],
);

const EXAMPLE = 'acme --enabled --metadata-file ./idp.xml';

export const orgSsoGroup: CommandGroup = {
  commands: [
    orgCrud.request({
      name: 'get',
      args: '<org>',
      endpoint: sso.get,
      examples: ['acme', 'acme --json', 'acme --fields entityId,ssoUrl'],
      show: ({ out }, settings) => out.item(settings, ssoColumns),
    }),
    orgCrud.request({
      name: 'update',
      args: '<org>',
      endpoint: sso.update,
      examples: [EXAMPLE, 'acme --enforced', 'acme --no-enabled'],
      except: ['password', 'metadataXml'],
      flags: {
        metadataFile: textFlag('<file|->', 'File with the metadata of the identity provider (XML)'),
      },
      isPrivileged: true,
      seeAlso: 'adjutant orgs sso test',
      more: async (context, { flags: { metadataFile } }) =>
        metadataFile === undefined
          ? {}
          : { metadataXml: await readFileOrStdin(context, metadataFile) },
      show: ({ out }, settings) =>
        out.done(
          settings.enabled ? 'Single sign-on is enabled.' : 'Single sign-on is not enabled.',
          settings,
          ssoColumns,
        ),
    }),
    orgCrud.request({
      name: 'test',
      args: '<org>',
      endpoint: sso.test,
      examples: ['acme', 'acme --json', 'acme > problems.txt'],
      notes: ['Shows what is missing, and why recent logins were refused.'],
      say: ({ out }, { ready, problems, results }) => {
        out.line(ready ? 'Single sign-on is ready.' : 'Single sign-on is not ready.');
        for (const problem of problems) out.line(`- ${safe(problem)}`);
        for (const { at, code, reason, nameId } of results) {
          const who = nameId === null ? '' : ` ${safe(nameId)}`;
          out.line(`${localTime(at)}${who}: ${code === null ? 'logged in' : safe(reason ?? code)}`);
        }
      },
    }),
    requestCommand({
      name: 'metadata',
      args: '[org]',
      endpoint: sso.metadata,
      examples: ['', 'acme', 'acme > adjutant.xml'],
      areFields: true,
      except: ['org'],
      notes: ['Upload the XML at the identity provider. The address is in adjutant orgs sso get.'],
      show: ({ out }, xml) => out.line(safe(xml)),
    }),
    orgCrud.request({
      name: 'link',
      args: '<org>',
      endpoint: sso.link,
      examples: ['acme', 'acme --json', 'acme --password-file ./password'],
      isPrivileged: true,
      notes: ['Open the address in a browser that is logged in to the page of the daemon.'],
      say: ({ out }, { url }) => out.line(url),
    }),
    orgCrud.request({
      name: 'unlink',
      args: '<org>',
      endpoint: sso.unlink,
      examples: ['acme', 'acme --yes', '4ew6rt --yes'],
      confirm: ({ args: { org } }) =>
        `Unlink your account from the identity provider of ${safe(org)}?`,
      show: ({ out }) => out.note('Unlinked.'),
    }),
  ],
};

const domainColumns = buildColumns<OrgDomain>([
  'domain',
  'verified=verifiedAt:ago',
  'record=name',
  'value',
]);

export const orgDomainsGroup: CommandGroup = {
  commands: [
    orgCrud.request({
      name: 'list',
      args: '<org>',
      endpoint: sso.domains,
      examples: ['acme', 'acme --json', 'acme --fields record,value'],
      show: ({ out }, reply) => out.page({ reply, rows: reply.domains, columns: domainColumns }),
    }),
    orgCrud.request({
      name: 'add',
      args: '<org> <domain>',
      endpoint: sso['domain-add'],
      examples: [
        'acme acme.example',
        'acme acme.example --json',
        'acme acme.example --fields record,value',
      ],
      more: (_, { args: { domain } }) => ({ domain }),
      seeAlso: 'adjutant orgs domains verify',
      show: ({ out }, domain) => {
        out.item(domain, domainColumns);
        out.note(
          `Create this TXT record in the DNS. Then: adjutant orgs domains verify <org> ${safe(domain.domain)}`,
        );
      },
    }),
    orgCrud.request({
      name: 'verify',
      args: '<org> <domain>',
      endpoint: sso['domain-verify'],
      examples: [
        'acme acme.example',
        'acme acme.example --json',
        'acme acme.example --fields domain,verified',
      ],
      within: async (_, __, { domain }) => ({ domain }),
      show: ({ out }, row) => out.done(`Verified ${safe(row.domain)}.`, row, domainColumns),
    }),
    orgCrud.request({
      name: 'delete',
      args: '<org> <domain>',
      endpoint: sso['domain-delete'],
      examples: ['acme acme.example', 'acme acme.example --yes', '4ew6rt acme.example'],
      within: async (_, __, { domain }) => ({ domain }),
      confirm: ({ args: { domain } }) => `Delete the domain ${safe(domain)}?`,
      show: ({ out }) => out.note('Deleted.'),
    }),
  ],
};

const scimColumns = buildColumns<Org['scim']>(['enabled', 'tokenSet', 'used=lastUsedAt:ago']);

export const orgScimGroup: CommandGroup = {
  commands: [
    orgCrud.request({
      name: 'enable',
      summary: 'Enable user provisioning (SCIM)',
      args: '<org>',
      endpoint: scim.settings,
      examples: ['acme', 'acme --json', '4ew6rt'],
      more: () => ({ enabled: true }),
      seeAlso: 'adjutant orgs scim token',
      show: ({ out }, state) => out.done('User provisioning is enabled.', state, scimColumns),
    }),
    orgCrud.request({
      name: 'disable',
      summary: 'Disable user provisioning (SCIM)',
      args: '<org>',
      endpoint: scim.settings,
      examples: ['acme', 'acme --yes', '4ew6rt --yes'],
      more: () => ({ enabled: false }),
      confirm: ({ args: { org } }) => `Disable user provisioning of ${safe(org)}? Accounts stay.`,
      show: ({ out }, state) => out.done('User provisioning is disabled.', state, scimColumns),
    }),
    orgCrud.request({
      name: 'token',
      args: '<org>',
      endpoint: scim['token-create'],
      examples: ['acme', 'acme > scim-token', 'acme --json'],
      isPrivileged: true,
      notes: [
        'The token is printed to stdout, once. The earlier token stops working.',
        'Enter it at the identity provider, with the address <public address>/api/scim/v2.',
      ],
      more: () => ({}),
      say: ({ out }, { token }) => {
        out.line(token);
        out.note('Shown only once.');
      },
    }),
    orgCrud.request({
      name: 'revoke',
      args: '<org>',
      endpoint: scim['token-delete'],
      examples: ['acme', 'acme --yes', 'acme --yes --password-file ./password'],
      isPrivileged: true,
      more: () => ({}),
      confirm: ({ args: { org } }) => `Delete the SCIM token of ${safe(org)}?`,
      show: ({ out }) => out.note('Deleted.'),
    }),
    listCommand({
      endpoint: scim.log,
      name: 'log',
      args: '<org>',
      examples: ['acme', 'acme --limit 20 --json', 'acme --fields time,method,path,status'],
      rows: 'requests',
      columns: buildColumns<ScimLogEntry>(
        ['id:data', 'time=createdAt:time', 'method', 'path', 'status:number', 'by=username'],
        ['detail'],
      ),
      within: async (client, { org }) => ({ id: await orgCrud.id(client, org) }),
      next: (rows) => (rows.length === 0 ? 'No requests.' : undefined),
    }),
  ],
};
