export interface ProxiedSite {
  url: URL;
  /** Address of the daemon for the proxy: `127.0.0.1:3005`. */
  upstream: string;
  /** Paths of the certificate and key on the proxy; null for the defaults. */
  files: { certificate: string; key: string } | null;
}

const BODY_MIB = 50;

const caddy = ({ url, upstream, files }: ProxiedSite): string => `# ${url.host}: Caddy 2.6 or later
{
	# URLs may contain a token (/ws?token=…), so the query string is removed from the log.
	log default {
		format filter {
			wrap json
			fields {
				request>uri regexp [?].* ?
			}
		}
	}
${url.port === '' ? '' : '\t# No redirect from port 80 for a port other than 443.\n\tauto_https disable_redirects\n'}}

${url.protocol === 'http:' ? 'http://' : ''}${url.host} {
${files === null ? '' : `\ttls ${files.certificate} ${files.key}\n`}	request_body {
		max_size ${BODY_MIB}MiB
	}
	# Sets X-Forwarded-For, -Proto and -Host itself, and upgrades /ws.
	reverse_proxy ${upstream} {
		# Do not buffer responses: server-sent events, long polls.
		flush_interval -1
	}
}
`;

const nginx = (site: ProxiedSite): string =>
  [logFormat(site), server(site), isUsual(site) ? redirect(site) : ''].join('');

const isUsual = ({ url }: ProxiedSite): boolean => url.protocol === 'https:' && url.port === '';

const logFormat = ({
  url,
}: ProxiedSite): string => `# ${url.host}: nginx 1.18 or later. Include it in http { }, for example as /etc/nginx/conf.d/adjutant.conf
map $http_upgrade $adjutant_connection {
    default upgrade;
    ''      '';
}
# URLs may contain a token (/ws?token=…): $uri omits the query string.
log_format adjutant '$remote_addr [$time_iso8601] "$request_method $uri" $status $body_bytes_sent $request_time';
`;

const server = (site: ProxiedSite): string => `
server {
${listening(site)}
    access_log /var/log/nginx/adjutant.log adjutant;
    # Messages about single requests contain the whole URL; they are below this level.
    error_log  /var/log/nginx/adjutant-error.log emerg;

    client_max_body_size ${BODY_MIB}m;

    location / {
        proxy_pass http://${site.upstream};
        proxy_http_version 1.1;
        proxy_set_header Host $http_host;
        proxy_set_header Upgrade $http_upgrade;
        proxy_set_header Connection $adjutant_connection;
        # Headers of the client are overwritten.
        proxy_set_header X-Forwarded-For $remote_addr;
        proxy_set_header X-Forwarded-Proto $scheme;
        proxy_set_header X-Forwarded-Host $http_host;
        proxy_set_header X-Real-IP $remote_addr;
        proxy_set_header Forwarded '';
        proxy_redirect off;
        # Do not buffer responses: server-sent events, long polls, sockets.
        proxy_buffering off;
        proxy_read_timeout 1h;
        proxy_send_timeout 1h;
    }
}
`;

const listening = ({ url, files }: ProxiedSite): string => {
  if (url.protocol === 'http:') {
    return `    listen ${url.port || 80};\n    server_name ${url.hostname};\n`;
  }
  const { certificate, key } = files ?? usualFiles(url);
  return `    listen ${url.port || 443} ssl;
    server_name ${url.hostname};
    ssl_certificate     ${certificate};
    ssl_certificate_key ${key};
    ssl_protocols       TLSv1.2 TLSv1.3;
`;
};

/** The paths that certbot uses: `certbot certonly --nginx -d <name>`. */
const usualFiles = ({ hostname }: URL): NonNullable<ProxiedSite['files']> => ({
  certificate: `/etc/letsencrypt/live/${hostname}/fullchain.pem`,
  key: `/etc/letsencrypt/live/${hostname}/privkey.pem`,
});

const redirect = ({ url: { hostname } }: ProxiedSite): string => `
server {
    listen 80;
    server_name ${hostname};
    access_log off;
    error_log  /var/log/nginx/adjutant-error.log emerg;
    return 301 https://$host$request_uri;
}
`;

/** Each returns a complete configuration. */
export const proxyConfigs = { caddy, nginx };
