# ruff: noqa: E501  (tables are read across)
"""What agents, people and machines write around a personal value. `<<kind>>` marks where one is planted.

A place is where in a trace the text stands; each has several texts. Decoys are numbers, names of products and places,
and ids that are nobody's: what is replaced there counts against precision.
"""

from __future__ import annotations

CHAT = (
    "Hi, I'm <<name>> and I can't log in. My account e-mail is <<email>>.",
    "Hello, this is <<name>> calling about order <<decoy>>. You can reach me on <<phone>>.",
    "My name is <<name>>, date of birth <<dob>>, I need to change my booking <<decoy>>.",
    "please send it to <<us_address>> instead, thanks\n<<first>>",
    "I was charged twice on my card <<card>>. The second charge is from <<decoy>>.",
    "Could you update my phone number to <<phone>>? The old one was <<phone>>.",
    "It's <<first>> again. Use <<email>> for the invoice, not <<email>>.",
    "My SSN is <<ssn>> and I was born on <<dob>>.",
    "You can wire it to IBAN <<iban>>, account holder <<name>>.",
    "Routing number <<routing>>, account number <<account>>. Please use that for the payroll.",
    "My passport number is <<passport>>, it expires in <<decoy>>.",
    "Driver's license: <<licence>>. The car's license plate is <<plate>>.",
    "Sure! I have found your reservation, <<name>>. The bag tag is <<decoy>>.",
    "Thank you, <<first>>. I will transfer you to a colleague in <<city>>.",
    "Dear Ms. <<last>>,\n\nyour parcel <<decoy>> is on its way to <<uk_address>>.\n\nKind regards,\n<<name>>",
    "We spoke with <<name>> yesterday, and <<name>> agreed to the <<decoy>> plan.",
    "The report was written by <<name>> for the <<city>> office, then <<name>> reviewed it.",
    "According to <<name>>, the outage in <<city>> began at 09:14 UTC on build <<decoy>>.",
    "<<name>> from procurement told me that <<name>> left the company in March.",
    "my user id is <<user_id>> and the password is <<password>>",
    "I logged in from <<ip>> on a laptop with the MAC <<mac>>.",
    "call me back at <<phone>> or write to <<email>> please!",
    "The tenant at <<us_address>> is <<name>>; her landlord is <<name>>.",
    "Emergency contact: <<name>>, <<phone>>, <<email>>",
    "I live at <<uk_address>>. My National Insurance number is <<uk nino>>.",
    "Here is my social insurance number: <<ca sin>>. Phone <<phone>>.",
    "Aadhaar <<in aadhaar>>, PAN <<in pan>>, that is all I have.",
    "Mi DNI es <<es dni>> y mi teléfono es <<phone>>. Me llamo <<name>>.",
    "Mon numéro de sécurité sociale est <<fr nir>>, je m'appelle <<name>>.",
    "Il mio codice fiscale è <<it codice fiscale>>.",
    "O CPF é <<br cpf>>, e-mail <<email>>.",
    "CURP <<mx curp>>, NRIC <<sg nric>>, PESEL <<pl pesel>> - one of these must match.",
    "Ich heiße <<name>>, meine Telefonnummer ist <<phone>>.",
    "API key for the sandbox is <<secret>>, please don't share it.",
    "Use this token: <<secret>>",
    "The file has <<secret>> in line 3, rotate it today.",
    "We use <<org>> for shipping and <<org>> for payments; both were down in <<city>> yesterday.",
    "Your stay with <<org>> is confirmed. Check-in is at 15:00, the code for parking is <<decoy>>.",
    "I bought the <<product>> from <<org>> last week. It stopped working, and <<name>> at the shop sent me here.",
    "Has anybody compared <<product>> with <<product>>? The review in the <<city>> Gazette was not kind.",
    "The <<org>> account manager is <<name>>; ask <<first>> about the <<product>> renewal.",
    "Please translate the Terms of Service into German and French before Black Friday.",
    "On Monday the Board of <<org>> met in <<city>>; nobody from Legal or Finance was there.",
)
KOREAN = (
    "안녕하세요, 저는 <<kname>>입니다. 연락처는 <<kphone>>이고 이메일은 <<email>>입니다.",
    "제 이름은 <<kname>>이고 주민등록번호는 <<rrn>>입니다.",
    "<<kname>>님, 주문 <<decoy>>이 오늘 <<k_address>>로 출발했습니다.",
    "고객 <<kname>>께서 <<kphone>>로 전화하셨습니다.",
    "외국인등록번호 <<frn>>, 여권번호 <<kpassport>>를 확인해 주세요.",
    "운전면허번호 <<kdriver>>, 차량번호 <<kplate>>입니다.",
    "사업자등록번호 <<kbusiness>>, 계좌번호 <<kaccount>> (예금주 <<kname>>)",
    "배송지: <<k_address>>\n받는 사람: <<kname>>\n전화: <<kphone>>",
    "담당자 <<kname>> 과장에게 <<email>>로 보내주세요.",
    "생년월일은 <<kdob>>이고 카드번호는 <<card>>입니다.",
    "<<kname>> 씨가 <<ip>>에서 로그인했고 <<kname>> 대리가 확인했습니다.",
    "주소는 <<k_address>>입니다. 아이디는 <<user_id>>예요.",
    "신청자: <<kname>>(<<rrn>>), 보호자: <<kname>>",
    "<<kname>> 고객님의 휴대폰 <<kphone>>번으로 인증번호를 보냈습니다.",
)
HTML = (
    "<h1><<product>></h1><p>Sold by <<org>>, ships to <<city>></p><button>Add to Cart</button>",
    '<tr><td>Customer</td><td><<name>></td></tr><tr><td>E-mail</td><td><a href="mailto:<<email>>">write</a></td></tr>',
    '<div class="profile" data-email="<<email>>" data-phone="<<phone>>"><h2><<name>></h2><p>Born: <<dob>></p></div>',
    "<ul><li>Ship to: <<name>></li><li><<us_address>></li><li>Order <<decoy>></li></ul>",
    '<input name="ssn" value="<<ssn>>"><input name="card_number" value="<<card>>"><input name="full_name" value="<<name>>">',
    "<p>고객명: <b><<kname>></b> / 연락처: <b><<kphone>></b></p>",
)
SQL = (
    "SELECT id FROM customers WHERE email = '<<email>>' AND status = 'active';",
    "INSERT INTO users (first_name, last_name, email, phone) VALUES ('<<first>>', '<<last>>', '<<email>>', '<<phone>>');",
    "UPDATE accounts SET iban = '<<iban>>', ssn = '<<ssn>>' WHERE account_holder = '<<name>>';",
    "SELECT * FROM sessions WHERE ip = '<<ip>>' OR email ILIKE '%<<email>>%' -- order <<decoy>>",
    "INSERT INTO 고객 (이름, 전화번호) VALUES ('<<kname>>', '<<kphone>>');",
)
CSV = (
    "id,full_name,email,phone\n17,<<name>>,<<email>>,<<phone>>\n18,<<name>>,<<email>>,<<phone>>\n",
    "order;customer name;iban;amount\n<<decoy>>;<<name>>;<<iban>>;19.90\n",
    'ssn,dob,card\n<<ssn>>,"<<dob>>",<<card>>\n',
    '"이름","휴대폰","주소"\n"<<kname>>","<<kphone>>","<<k_address>>"\n',
    "first_name\tlast_name\temail\n<<first>>\t<<last>>\t<<email>>\n",
)
LOG = (
    "2026-03-14T09:26:53.589Z INFO auth login ok user=<<user_id>> ip=<<ip>> req=<<decoy>> dur=12ms",
    '<<ip>> - <<user_id>> [14/Mar/2026:09:26:53 +0000] "GET /v1/orders/<<decoy>> HTTP/1.1" 200 5123',
    "WARN  [mailer] bounced: <<email>> (550 5.1.1), retry in 300s, id=<<decoy>>",
    'ERROR payments: card <<card>> declined for customer="<<name>>" trace=<<decoy>>',
    "Mar 14 09:26:53 gw sshd[2211]: Accepted publickey for <<user_id>> from <<ip>> port 52144 ssh2",
    "dhcpd: DHCPACK on 10.2.3.4 to <<mac>> via eth0",
    'level=debug msg="sms sent" to=<<phone>> template=otp provider=<<decoy>>',
    "DEBUG config loaded: <<secret>>",
    "INFO notify phone_number=<<phone>> email=<<email>> name='<<name>>'",
    '{"level":"info","ts":1773480413.2,"msg":"signup","email":"<<email>>","client_ip":"<<ip>>","user_id":"<<user_id>>"}',
)
CODE = (
    "def test_login(client):\n    assert client.post('/login', json={'email': '<<email>>', 'password': '<<password>>'}).ok\n",
    "# Maintainer: <<name>> <<<email>>>\nimport os\n\nTIMEOUT = 30\n",
    'const client = new Client({ apiKey: "<<secret>>", region: "eu-west-1" });\n',
    'user = User(first_name="<<first>>", last_name="<<last>>", phone="<<phone>>")\n',
    '# TODO(<<user_id>>): drop after <<decoy>>\nHOSTS = ["10.0.0.4", "<<ip>>"]\n',
    "curl -H 'Authorization: Bearer <<bearer>>' https://api.acme.test/v2/items/<<decoy>>\n",
    "git commit --author=\"<<name>> <<<email>>>\" -m 'fix <<decoy>>'\n",
)
URL = (
    "https://shop.acme.test/reset?email=<<email%>>&order=<<decoy>>",
    "https://maps.acme.test/search?q=<<us_address%>>",
    "GET /api/users?name=<<name%>>&phone=<<phone%>> HTTP/1.1",
    "https://crm.acme.test/contacts/<<user_id>>?tab=orders",
    "callback=https%3A%2F%2Fapp.acme.test%2Fin%3Femail%3D<<email%>>%26id%3D<<decoy>>",
    "mailto:<<email>>?subject=Order%20<<decoy>>",
)
PATH = (
    "/home/<<user_id>>/projects/report.py", r"C:\Users\<<user_id>>\Documents\tax.xlsx", "/srv/exports/<<email>>/2026-03.csv",
    "s3://kyc/passports/<<ssn>>_front.jpg", "/Users/<<user_id>>/.ssh/config", "/data/심사/<<rrn>>_사본.pdf", "/mnt/cards/<<card>>.json",
)  # fmt: skip
EMOJI = (
    "🎉<<email>>🎉", "📞<<phone>>😀", "👩‍💻 I'm <<name>>! 🙌 my mail: <<email>>👍🏽", "💳 <<card>>✅", "🇰🇷 <<kname>>님📱<<kphone>>🔥",
    "🔑<<secret>>🔑",
)  # fmt: skip
MARKDOWN = (
    "| Name | Phone | City |\n|---|---|---|\n| <<name>> | <<phone>> | <<city>> |\n| <<name>> | <<phone>> | <<city>> |",
    "## Passenger\n\n- **Name:** <<name>>\n- **Date of Birth:** <<dob>>\n- **Email:** <<email>>\n- **Booking:** <<decoy>>",
    "| Product | Vendor | City |\n|---|---|---|\n| <<product>> | <<org>> | <<city>> |\n| <<product>> | <<org>> | <<city>> |",
    "# Release Notes\n\n- **<<product>>** now ships from <<city>>\n- Thanks to the <<org>> team\n- Fixed: Dark Mode on Safari",
    "1. **<<name>>** (DOB: <<dob>>)\n2. **<<name>>** (DOB: <<dob>>)",
    "| 이름 | 전화번호 |\n|---|---|\n| <<kname>> | <<kphone>> |",
)
MAIL = (
    "From: <<name>> <<<email>>>\nTo: <<name>> <<<email>>>\nSubject: Order <<decoy>>\n\nHi <<first>>,\n\nplease find the invoice attached.\n\nBest regards,\n<<name>>\nTel: <<phone>>\n<<us_address>>",
    "On Tue, 3 Mar 2026 at 10:12, <<name>> <<<email>>> wrote:\n> can you call <<name>> on <<phone>>?\n",
)
CONFIG = (
    "database:\n  url: <<database url>>\n  pool: 5\nsmtp:\n  user: <<email>>\n  password: <<password>>\n",
    "export AWS_ACCESS_KEY_ID=<<aws key id>>\nexport AWS_SECRET_ACCESS_KEY=<<aws secret key>>\nexport REGION=us-east-1\n",
    "[default]\naws_secret_access_key = <<aws secret key>>\n\n<<pem>>\n",
    "GITHUB_TOKEN=<<github>>\nOPENAI_API_KEY=<<openai>>\nDEBUG=1\n",
    "Cookie: theme=dark; sessionid=<<session cookie>>; lang=en\nHost: acme.test",
    "DefaultEndpointsProtocol=https;AccountName=files7;AccountKey=<<azure storage>>;EndpointSuffix=core.windows.net",
)
ERROR = (
    "ValueError: invalid phone number '<<phone>>' for customer <<email>>",
    'psycopg.errors.UniqueViolation: duplicate key value violates unique constraint "users_email_key"\nDETAIL:  Key (email)=(<<email>>) already exists.',
    "KeyError: '<<user_id>>'\n  File \"/home/<<user_id>>/app/main.py\", line 41, in handler",
    "HTTP 401: token <<secret>> is expired (request <<decoy>>)",
    "ValidationError: 1 validation error for Customer\ndob\n  input_value='<<dob>>', ssn='<<ssn>>'",
)
TEXTS = {
    "chat": CHAT, "korean": KOREAN, "html": HTML, "sql": SQL, "csv": CSV, "log": LOG, "code": CODE, "url": URL, "path": PATH,
    "emoji": EMOJI, "markdown": MARKDOWN, "mail": MAIL, "config": CONFIG, "error": ERROR,
}  # fmt: skip

RECORDS = (
    {"first_name": "<<first>>", "last_name": "<<last>>", "email": "<<email>>", "dob": "<<dob>>", "status": "gold", "order": "<<decoy>>"},
    {"user_id": "<<user_id>>", "name": {"first_name": "<<first>>", "last_name": "<<last>>"}, "address": {"address1": "<<world_address>>", "city": "<<city>>", "zip": "<<zip>>"}},
    {"customerName": "<<name>>", "phoneNumber": "<<phone>>", "shippingAddress": "<<us_address>>", "amount": 1499, "currency": "EUR"},
    {"passengers": [{"first_name": "<<first>>", "last_name": "<<last>>", "dob": "<<dob>>"}], "flight": "<<decoy>>", "cabin": "economy"},
    {"fullName": "<<name>>", "ssn": "<<ssn>>", "payment": {"card_number": "<<card>>", "cvv": "<<cvv>>", "iban": "<<iban>>"}},
    {"employee": {"full_name": "<<name>>", "passport_number": "<<passport>>", "driver_license": "<<licence>>", "license_plate": "<<plate>>"}},
    {"account_number": "<<account>>", "routing_number": "<<routing>>", "account_holder": "<<name>>"},
    {"이름": "<<kname>>", "전화번호": "<<kphone>>", "주소": "<<k_address>>", "생년월일": "<<kdob>>", "주문": "<<decoy>>"},
    {"고객명": "<<kname>>", "주민등록번호": "<<rrn>>", "계좌번호": "<<kaccount>>", "사업자등록번호": "<<kbusiness>>"},
    {"vendor": "<<org>>", "product": "<<product>>", "city": "<<city>>", "sku": "<<decoy>>", "status": "In Transit", "carrier": "<<org>>"},
    {"name": "<<product>>", "description": "A sturdy Backpack for City and Trail", "brand": "<<org>>", "rating": 4.5, "order": "<<decoy>>"},
    {"contact": {"email": "<<email>>", "mobile": "<<phone>>"}, "client_ip": "<<ip>>", "mac": "<<mac>>", "version": "2.14.1"},
    {"api_key": "<<openai>>", "webhook": "<<slack webhook>>", "region": "eu-west-1", "request_id": "<<decoy>>"},
    {"card_number": "<<card#>>", "phone": "<<nanp#>>", "quantity": 3, "unix_time": 1773480413},
    {"note": "<<name>> asked for a refund; call <<phone>>", "ticket": "<<decoy>>", "tags": ["vip", "<<email>>"]},
    {"<<email>>": {"role": "editor", "since": "2026-01-04"}, "count": 1},
    {"national_id": "<<sg nric>>", "tax_id": "<<it codice fiscale>>", "nationality": "SG"},
    {"street": "<<world_address>>", "postal_code": "<<zip>>", "country": "DE", "recipient": "<<name>>"},
)  # fmt: skip
"""Tool results and arguments; `#` plants a number as a number."""

METADATA = (
    {"ls_provider": "openai", "user_id": "<<user_id>>", "thread_id": "<<decoy>>", "customer_email": "<<email>>"},
    {"tags": ["prod", "user:<<email>>"], "session": "<<decoy>>", "client.address": "<<ip>>"},
    {"enduser.id": "<<user_id>>", "http.url": "https://acme.test/u?mail=<<email%>>", "host.name": "web-3"},
    {"run_name": "triage for <<name>>", "assignee": "<<name>>", "commit": "<<decoy>>"},
    {"langfuse.user.id": "<<email>>", "git.author": "<<name>> <<<email>>>", "exception.message": "no such user: <<email>>"},
)  # fmt: skip
SCHEMAS = (
    {"name": "lookup", "description": "Finds a customer, e.g. by e-mail <<email>> or phone <<phone>>.",
     "parameters": {"type": "object", "properties": {"email": {"type": "string", "default": "<<email>>"}}}},
    {"name": "route", "description": "Sends a ticket to a person.",
     "parameters": {"type": "object", "properties": {"assignee": {"type": "string", "enum": ["<<email>>", "<<email>>"]}}}},
)  # fmt: skip
FILLER = (
    "The service restarted twice during the window and the queue drained within four minutes. ",
    "Each request is retried at most three times with a delay that doubles. ",
    "We compared both plans; the second is cheaper but takes two days longer. ",
    "No further action is needed unless the alert fires again. ",
)
ORGS = (
    "Meridian Freight GmbH", "Northgate Logistics", "Hotel Bellavista", "Acme Payments", "Blue Harbor Bank", "Kestrel Airways", "Zephyr Cloud",
    "Orchid Labs", "Tidewater Insurance", "Vantage Foods Inc.", "Lumen Studio", "Cobalt Systems", "Silverline Hospital", "Redwood University",
)  # fmt: skip
PRODUCTS = (
    "Aurora Pro 14",
    "VitaBlend 300",
    "Falcon X2",
    "TrailMaster Backpack",
    "EcoKettle",
    "Smart Lamp Mini",
    "Omega Headset",
    "PixelFrame 8",
)
CITIES = [
    "Lisbon",
    "Toronto",
    "Osaka",
    "Nairobi",
    "Denver",
    "Gdańsk",
    "Busan",
    "Melbourne",
    "Chicago",
    "Marseille",
    "Leipzig",
    "Bogotá",
]
