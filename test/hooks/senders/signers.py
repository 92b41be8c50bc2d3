"""Signs requests as senders of webhooks do. It knows nothing of the project.

Reads from stdin {"url": "https://…/<sender>", "now": <seconds>}, of which <sender> is replaced, and
writes to stdout a list: for each sender its secret, and its requests, of which `valid` is the only
right one.
"""

import base64
import hashlib
import hmac
import json
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from urllib.parse import urlencode

LATE_S = 3600
SENDERS = {}


class Request:
    """What may be signed: the body or its fields, the address, the time in seconds, an id."""

    def __init__(self, url, at, body, fields, identity):
        self.url, self.at, self.body, self.fields, self.id = url, at, body, fields, identity
        self.time = str(at).encode()
        self.millis = str(at * 1000)
        self.dotted = self.time + b"." + body

    def iso(self, end="Z"):
        moment = datetime.fromtimestamp(self.at, timezone.utc)
        return moment.strftime("%Y-%m-%dT%H:%M:%S") + end


def sender(name, sign, body=None, form=None, secrets=("the right one", "a wrong one"), **more):
    """`timed`: it signs the time; `token`: it signs nothing, and shows its secret."""
    SENDERS[name] = {"sign": sign, "body": body, "form": form, "secrets": secrets, **more}


def mac(secret, text, algorithm="sha256"):
    key = secret if isinstance(secret, bytes) else secret.encode()
    return hmac.new(key, text, algorithm).digest()


def hexed(secret, text, algorithm="sha256"):
    return mac(secret, text, algorithm).hex()


def based(secret, text, algorithm="sha256"):
    return base64.b64encode(mac(secret, text, algorithm)).decode()


def over_body(header, before="", encode=hexed, algorithm="sha256", identity=None, event=()):
    """Most senders: a signature of the body alone, beside an id and the event's name."""

    def sign(secret, r):
        headers = {header: before + encode(secret, r.body, algorithm)}
        if identity:
            headers[identity] = r.id
        if event:
            headers[event[0]] = event[1]
        return headers

    return sign


def sorted_form(fields):
    lists = {name: value if isinstance(value, list) else [value] for name, value in fields.items()}
    return "".join(name + value for name in sorted(lists) for value in sorted(set(lists[name])))


def url_and_form(header):
    return lambda s, r: {header: based(s, (r.url + sorted_form(r.fields)).encode(), "sha1")}


# Forges and builds.
def github(secret, r):
    signature = "sha256=" + hexed(secret, r.body)
    return {"X-Hub-Signature-256": signature, "X-GitHub-Delivery": r.id, "X-GitHub-Event": "issues"}


sender("github", github)
sender("github-form", github, form={"payload": '{"action":"opened","n":1}'})
sender(
    "gitlab",
    lambda s, r: {"X-Gitlab-Token": s, "Idempotency-Key": r.id, "X-Gitlab-Event": "Push Hook"},
    token=True,
)
for forge in ("Gitea", "Gogs"):
    names = {"identity": f"X-{forge}-Delivery", "event": (f"X-{forge}-Event", "push")}
    sender(forge.lower(), over_body(f"X-{forge}-Signature", **names))
for kind, identity, key in (
    ("cloud", "X-Request-UUID", "repo:push"),
    ("server", "X-Request-Id", "repo:refs_changed"),
):
    names = {"identity": identity, "event": ("X-Event-Key", key)}
    sender(f"bitbucket-{kind}", over_body("X-Hub-Signature", "sha256=", **names))
sender(
    "circleci",
    over_body("circleci-signature", "v1=", event=("circleci-event-type", "workflow-completed")),
    body={"id": "c1", "type": "workflow-completed"},
)
sender(
    "buildkite",
    lambda s, r: {
        "X-Buildkite-Signature": f"timestamp={r.at},signature={hexed(s, r.dotted)}",
        "X-Buildkite-Event": "build.finished",
        "X-Buildkite-Request": r.id,
    },
    timed=True,
)
sender(
    "vercel",
    over_body("x-vercel-signature", algorithm="sha1"),
    body={"id": "v1", "type": "deployment.succeeded"},
)

# Work, errors and alerts.
sender(
    "jira",
    over_body("X-Hub-Signature", "sha256=", identity="X-Atlassian-Webhook-Identifier"),
    body={"webhookEvent": "jira:issue_created"},
)
sender(
    "linear",
    over_body("Linear-Signature", identity="Linear-Delivery", event=("Linear-Event", "Issue")),
    timed=True,
    time_in="webhookTimestamp",
)
sender(
    "sentry",
    over_body(
        "Sentry-Hook-Signature", identity="Request-ID", event=("Sentry-Hook-Resource", "issue")
    ),
)
sender(
    "pagerduty",
    lambda s, r: {
        "X-PagerDuty-Signature": f"v1={hexed('an old secret', r.body)},v1={hexed(s, r.body)}"
    },
    body={"event": {"id": "01B", "event_type": "incident.triggered"}},
)
sender("grafana", over_body("X-Grafana-Alerting-Signature"), body={"status": "firing"})
sender(
    "notion",
    over_body("X-Notion-Signature", "sha256="),
    body={"id": "n1", "type": "page.created"},
)
sender("asana", over_body("X-Hook-Signature"), body={"events": [{"action": "changed"}]})
sender(
    "trello",
    lambda s, r: {"X-Trello-Webhook": based(s, r.body + r.url.encode(), "sha1")},
    body={"action": {"id": "a1", "type": "updateCard"}},
)
sender("launchdarkly", over_body("X-LD-Signature"), body={"_id": "5", "kind": "flag"})


# Messages and meetings.
def version_0(product, secret, r):
    signature = "v0=" + hexed(secret, b"v0:" + r.time + b":" + r.body)
    return {f"{product}-Request-Timestamp": str(r.at), f"{product}-Signature": signature}


sender(
    "slack",
    lambda s, r: version_0("X-Slack", s, r),
    body={"type": "event_callback", "event_id": "Ev1", "event": {"type": "message"}},
    timed=True,
)
sender(
    "zoom",
    lambda s, r: version_0("x-zm", s, r),
    body={"event": "meeting.started", "event_ts": 1},
    timed=True,
)


def new_ed25519():
    made = ["openssl", "genpkey", "-algorithm", "ed25519"]
    private = subprocess.run(made, capture_output=True, check=True).stdout
    shown = ["openssl", "pkey", "-pubout", "-outform", "DER"]
    public = subprocess.run(shown, input=private, capture_output=True, check=True).stdout
    return {"private": private, "public": public[-32:].hex()}


def discord(keys, r):
    with tempfile.NamedTemporaryFile() as text, tempfile.NamedTemporaryFile() as key:
        for file, content in ((text, r.time + r.body), (key, keys["private"])):
            file.write(content)
            file.flush()
        command = ["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", key.name, "-in", text.name]
        signature = subprocess.run(command, capture_output=True, check=True).stdout
    return {"X-Signature-Ed25519": signature.hex(), "X-Signature-Timestamp": str(r.at)}


sender(
    "discord",
    discord,
    body={"type": 1, "event": {"type": "APPLICATION_AUTHORIZED"}},
    secrets=(new_ed25519(), new_ed25519()),
    timed=True,
)
twilio_form = url_and_form("X-Twilio-Signature")
sender(
    "twilio",
    lambda s, r: {**twilio_form(s, r), "I-Twilio-Idempotency-Token": r.id},
    form={"MessageSid": "SM1", "Body": "Hello & welcome", "MediaUrl": ["b", "a", "b"]},
)
sender(
    "twilio-json",
    lambda s, r: {
        "X-Twilio-Signature": based(s, r.url.encode(), "sha1"),
        "I-Twilio-Idempotency-Token": r.id,
    },
    hashed=True,
)
sender(
    "telegram",
    lambda s, r: {"X-Telegram-Bot-Api-Secret-Token": s},
    body={"update_id": "7"},
    token=True,
)
sender(
    "line",
    over_body("x-line-signature", encode=based),
    body={"events": [{"webhookEventId": "01F"}]},
)
sender(
    "meta",
    over_body("X-Hub-Signature-256", "sha256="),
    body={"object": "page", "entry": [{"id": "1"}]},
)
sender(
    "mandrill", url_and_form("X-Mandrill-Signature"), form={"mandrill_events": '[{"event":"open"}]'}
)


def twitch(secret, r):
    time = r.iso(".123456789Z")
    signature = "sha256=" + hexed(secret, (r.id + time).encode() + r.body)
    names = {"Id": r.id, "Timestamp": time, "Signature": signature, "Type": "notification"}
    return {f"Twitch-Eventsub-Message-{name}": value for name, value in names.items()}


sender("twitch", twitch, body={"subscription": {"type": "stream.online"}}, timed=True)

# Forms, customers and files.
sender(
    "typeform",
    over_body("Typeform-Signature", "sha256=", encode=based),
    body={"event_id": "t1", "event_type": "form_response"},
)
sender(
    "calendly",
    lambda s, r: {"Calendly-Webhook-Signature": f"t={r.at},v1={hexed(s, r.dotted)}"},
    body={"event": "invitee.created"},
    timed=True,
)
sender("cal-com", over_body("X-Cal-Signature-256"), body={"triggerEvent": "BOOKING_CREATED"})
sender(
    "zendesk",
    lambda s, r: {
        "X-Zendesk-Webhook-Signature": based(s, r.iso().encode() + r.body),
        "X-Zendesk-Webhook-Signature-Timestamp": r.iso(),
    },
    timed=True,
)
sender(
    "intercom",
    over_body("X-Hub-Signature", "sha1=", algorithm="sha1"),
    body={"id": "notif_1", "topic": "user.created"},
)
sender(
    "hubspot",
    lambda s, r: {
        "X-HubSpot-Request-Timestamp": r.millis,
        "X-HubSpot-Signature-v3": based(s, b"POST" + r.url.encode() + r.body + r.millis.encode()),
    },
    body=[{"eventId": "100"}],
    timed=True,
)
sender(
    "webflow",
    lambda s, r: {
        "x-webflow-timestamp": r.millis,
        "x-webflow-signature": hexed(s, r.millis.encode() + b":" + r.body),
    },
    body={"triggerType": "form_submission"},
    timed=True,
)
sender("dropbox", over_body("X-Dropbox-Signature"), body={"list_folder": {"accounts": ["dbid:1"]}})
sender(
    "box",
    lambda s, r: {
        "BOX-DELIVERY-ID": r.id,
        "BOX-DELIVERY-TIMESTAMP": r.iso("+00:00"),
        "BOX-SIGNATURE-PRIMARY": based(s, r.body + r.iso("+00:00").encode()),
        "BOX-SIGNATURE-SECONDARY": based("another key", r.body + r.iso("+00:00").encode()),
    },
    timed=True,
)
sender(
    "airtable",
    lambda s, r: {"X-Airtable-Content-MAC": "hmac-sha256=" + hexed(base64.b64decode(s), r.body)},
    body={"base": {"id": "app1"}},
    secrets=(base64.b64encode(b"a key of bytes").decode(), base64.b64encode(b"not the key").decode()),
)


def sanity(secret, r):
    signature = mac(secret, r.millis.encode() + b"." + r.body)
    text = base64.urlsafe_b64encode(signature).decode().rstrip("=")
    return {"sanity-webhook-signature": f"t={r.millis},v1={text}", "idempotency-key": r.id}


sender("sanity", sanity, timed=True)
sender(
    "mux",
    lambda s, r: {"Mux-Signature": f"t={r.at},v1={hexed(s, r.dotted)}"},
    body={"id": "m1", "type": "video.asset.ready"},
    timed=True,
)


# Money and shops.
def stripe(secret, r):
    old, new = hexed("an old secret", r.dotted), hexed(secret, r.dotted)
    return {"Stripe-Signature": f"t={r.at},v0={old},v1={old},v1={new}"}


sender("stripe", stripe, body={"id": "evt_1", "type": "charge.refunded"}, timed=True)
sender(
    "shopify",
    over_body(
        "X-Shopify-Hmac-Sha256",
        encode=based,
        identity="X-Shopify-Webhook-Id",
        event=("X-Shopify-Topic", "orders/create"),
    ),
)
sender(
    "paddle",
    lambda s, r: {"Paddle-Signature": f"ts={r.at};h1={hexed(s, r.time + b':' + r.body)}"},
    body={"event_id": "evt_1"},
    timed=True,
)
sender(
    "square",
    lambda s, r: {"x-square-hmacsha256-signature": based(s, r.url.encode() + r.body)},
    body={"event_id": "sq1"},
)
sender(
    "woocommerce",
    over_body(
        "X-WC-Webhook-Signature",
        encode=based,
        identity="X-WC-Webhook-Delivery-ID",
        event=("X-WC-Webhook-Topic", "order.created"),
    ),
)
sender("lemon-squeezy", over_body("X-Signature", event=("X-Event-Name", "order_created")))
sender(
    "paystack",
    over_body("x-paystack-signature", algorithm="sha512"),
    body={"event": "charge.success"},
)
sender(
    "razorpay",
    over_body("X-Razorpay-Signature", identity="x-razorpay-event-id"),
    body={"event": "payment.captured"},
)
sender("gocardless", over_body("Webhook-Signature"), body={"events": [{"id": "EV1"}]})


# Standards.
def standard(prefix):
    def sign(secret, r):
        key = base64.b64decode(secret.removeprefix("whsec_"))
        signature = "v1," + based(key, f"{r.id}.{r.at}.".encode() + r.body)
        names = {"id": r.id, "timestamp": str(r.at), "signature": signature}
        return {f"{prefix}-{name}": value for name, value in names.items()}

    return sign


WHSEC = tuple("whsec_" + base64.b64encode(key * 24).decode() for key in (b"a", b"b"))
sender("standard-webhooks", standard("webhook"), {"type": "user.created"}, None, WHSEC, timed=True)
sender("svix", standard("svix"), {"type": "user.created"}, None, WHSEC, timed=True)
sender(
    "basic",
    lambda s, r: {"Authorization": "Basic " + base64.b64encode(s.encode()).decode()},
    secrets=("ada:a password", "ada:another"),
    token=True,
)


def written(facts, url, at, changed=False):
    """The request before it is signed."""
    if facts["form"]:
        fields = {**facts["form"], **({"changed": "1"} if changed else {})}
        body = urlencode(fields, doseq=True).encode()
        kind = "application/x-www-form-urlencoded"
    else:
        fields = facts["body"] if facts["body"] is not None else {"hello": "wörld"}
        time_in = facts.get("time_in")
        if time_in:
            fields = {**fields, time_in: at * 1000}
        if changed:
            fields = {**fields, "changed": 1} if isinstance(fields, dict) else [*fields, 1]
        body, kind = json.dumps(fields, ensure_ascii=False).encode(), "application/json"
    if facts.get("hashed"):
        url += "?bodySHA256=" + hashlib.sha256(body).hexdigest()
    return Request(url, at, body, fields, "id-1"), kind


def flipped(value):
    """The same with one letter of the signature changed, near its end."""
    at = len(value) - 6
    letter = "0" if value[at] != "0" else "1"
    return value[:at] + letter + value[at + 1 :]


def requests(facts, url, now):
    right, wrong = facts["secrets"]

    def made(secret=right, at=now, changed=False):
        request, kind = written(facts, url, at)
        headers = facts["sign"](secret, request)
        sent = written(facts, url, at, True)[0] if changed else request
        query = request.url[len(url) :]
        return {
            "query": query,
            "headers": {"Content-Type": kind, **headers},
            "body": base64.b64encode(sent.body).decode(),
        }

    def signature(headers):
        wanted = ("signature", "hmac", "token", "authorization", "mac", "x-trello-webhook")
        found = [name for name in headers if any(word in name.lower() for word in wanted)]
        kept = [name for name in found if "timestamp" not in name.lower()]
        return [name for name in kept if not name.lower().startswith("i-twilio")]

    valid = made()
    names = signature(valid["headers"])
    missing, bent = made(), made()
    for name in names:
        del missing["headers"][name]
        bent["headers"][name] = flipped(bent["headers"][name])
    sent = {"valid": valid, "otherSecret": made(wrong), "missing": missing, "flipped": bent}
    if not facts.get("token"):
        sent["otherBody"] = made(changed=True)
    if facts.get("timed"):
        sent["late"] = made(at=now - LATE_S)
        sent["early"] = made(at=now + LATE_S)
    return sent


def main():
    given = json.load(sys.stdin)
    made = []
    for name, facts in SENDERS.items():
        secret = facts["secrets"][0]
        shown = secret["public"] if isinstance(secret, dict) else secret
        url = given["url"].replace("<sender>", name)
        made.append(
            {"sender": name, "secret": shown, "requests": requests(facts, url, given["now"])}
        )
    json.dump(made, sys.stdout)


main()
