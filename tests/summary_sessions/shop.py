"""The shop of a coffee roastery: a developer who writes Chinese, a shop that speaks German, by pi.

What the person wants and what the roastery's tax adviser writes are in different languages, as
they are in such teams.
"""

from __future__ import annotations

from datetime import UTC, datetime

from tests.summary_sessions.pi_log import PiLog

ASK = """结账页和发票的金额对不上。订单 20931：结账页显示 47,90 €，发票却是 47,89 €。\
客户已经投诉了，她的邮件在 docs/beschwerde-20931.md。请找出原因并修好。

这次必须遵守：
1. 不要改数据库结构，order_items 表一个字段都不能动。
2. 界面文字保持德语，对客户一律用 „Sie“，不能用 „du“。
3. 不要加新的 npm 依赖。
4. 金额一律用整数分（cent）计算，不能用浮点数。
5. 不要碰 Stripe 的正式环境密钥，只用 .env.test。"""

MAIL = """Betreff: Rechnung zu Bestellung 20931

Sehr geehrte Damen und Herren,
im Bestellvorgang wurden mir 47,90 € angezeigt und abgebucht, auf der Rechnung stehen 47,89 €.
Es geht mir nicht um den Cent, aber meine Buchhaltung nimmt die Rechnung so nicht an.
Bitte schicken Sie mir eine korrigierte Rechnung.
Mit freundlichen Grüßen
Hannelore Wiechert"""

BRANDT = """看了 Brandt 女士（我们的 Steuerberaterin）的回信：

„Maßgeblich ist die Rechnung: Die Umsatzsteuer wird je Steuersatz auf die Summe der Nettobeträge \
berechnet und erst dann kaufmännisch gerundet, nicht je Position.“

所以就按税率汇总之后再四舍五入，不要按行舍入。发票那边是对的，改结账页。"""


def tell() -> PiLog:
    """The whole session; its last task is not finished."""
    log = PiLog(
        "01b2d7aa-40c1-7c12-8a5e-6de0b7f1c202",
        "/home/lin/kaffeeshop",
        datetime(2026, 2, 3, 13, 5, tzinfo=UTC),
    )
    _find(log)
    _fix(log)
    _end_to_end(log)
    _past_orders(log)
    return log


def _find(log: PiLog) -> None:
    log.user(ASK)
    log.calls("read", MAIL, text="先看投诉邮件和相关代码。", path="docs/beschwerde-20931.md")
    log.calls("bash", _tree(), command="git ls-files src services templates scripts | head -80")
    log.calls("read", TOTALS, path="src/checkout/totals.ts")
    log.calls("read", INVOICE, path="services/rechnung/summen.ts")
    log.calls("read", _cart_page(), path="src/checkout/WarenkorbSeite.tsx")
    log.calls(
        "bash",
        _order(),
        text="用测试库里的订单 20931 复算一遍。",
        command="pnpm tsx scripts/bestellung.ts 20931 --env .env.test",
    )
    log.calls("bash", _strings(), command="cat src/i18n/de.json | head -120")
    log.says(
        "原因找到了：src/checkout/totals.ts 里的 `grossTotal` 按每一行单独舍入税额，而发票服务"
        " services/rechnung/summen.ts 先按税率（7 % 咖啡、19 % 配件）汇总，再舍入一次。订单 20931"
        " 有五行 7 % 的商品，每行各舍入一次，正好多出 1 分。两种算法都有人用，哪一种才对，"
        "要看税务上的规定。"
    )
    log.user(BRANDT)


def _fix(log: PiLog) -> None:
    log.calls(
        "write",
        "Wrote 31 lines to tests/unit/totals.test.ts",
        text="明白：按税率汇总后再舍入。先写测试。",
        path="tests/unit/totals.test.ts",
        content=TEST,
    )
    log.calls("bash", _unit(1), failed=True, command="pnpm test:unit")
    log.calls(
        "edit",
        "Edited src/checkout/totals.ts",
        path="src/checkout/totals.ts",
        oldText="  return lines.reduce((sum, line) => sum + grossOfLine(line), 0);",
        newText="  const netByRate = groupNetByRate(lines);\n  return [...netByRate].reduce((sum,"
        " [rate, net]) => sum + net + roundHalfUp(net * rate, 100), 0);",
    )
    log.calls("bash", _unit(0), command="pnpm test:unit")
    log.calls("bash", _types(), command="pnpm typecheck && pnpm lint")
    log.calls(
        "bash",
        "b7c03ad",
        command="git commit -qam 'Umsatzsteuer je Steuersatz runden (KS-318)' && git rev-parse"
        " --short HEAD",
    )
    log.says(
        "已修好并提交 b7c03ad（KS-318）：`grossTotal` 现在按税率汇总净额后再舍入，全程整数分。"
        "订单 20931"
        " 现在两边都是 47,89 €。单元测试 212 个全部通过。"
    )
    log.user("好。购物车页面上那行提示文字也检查一下，别出现 „du“。")
    log.calls("bash", DU, command="rg -n '\\b(du|dein|deine|dir)\\b' src/i18n/de.json")
    log.calls(
        "edit",
        "Edited src/i18n/de.json",
        path="src/i18n/de.json",
        oldText="Prüfe deine Bestellung, bevor du bezahlst.",
        newText="Bitte prüfen Sie Ihre Bestellung, bevor Sie bezahlen.",
    )
    log.calls("bash", "", failed=True, command="rg -n '\\b(du|dein|deine|dir)\\b' src/i18n/de.json")
    log.says(
        "只有 `warenkorb.hinweis` 一处用了 „du“，已改成 „Bitte prüfen Sie Ihre Bestellung …“。"
    )


def _end_to_end(log: PiLog) -> None:
    log.user("跑一遍 e2e 吧，用测试环境。")
    log.calls("bash", _e2e(), failed=True, command="pnpm test:e2e --env .env.test")
    log.calls("read", _spec(), path="tests/e2e/bezahlen.spec.ts")
    log.calls("bash", _iframe_log(), command="tail -60 logs/stripe-mock.log")
    log.calls("bash", _e2e(), failed=True, command="git stash -q && pnpm test:e2e --env .env.test")
    log.calls("bash", "Dropped refs/stash@{0}", command="git stash pop")
    log.says(
        "e2e 有一个失败：tests/e2e/bezahlen.spec.ts 等 `[data-testid=zahlung-iframe]` 等到 "
        "30000 ms 超时，"
        "stripe-mock 对 /v1/payment_intents 返回 409。没有这次改动时也一样失败，"
        "所以跟舍入无关，暂时没修。"
    )
    log.user("那个先不管，让 Tobias 看，他维护 stripe-mock。你别动它。")


def _past_orders(log: PiLog) -> None:
    log.user(
        "接下来：已经受影响的旧订单也要列出来。写一个 scripts/nachberechnen.ts，找出 2026-01-01"
        " 以来两边金额不同的订单，只做 dry-run，绝对不能给客户发邮件。"
    )
    log.calls("read", _mailer(), path="services/mail/versand.ts")
    log.calls(
        "write",
        "Wrote 64 lines to scripts/nachberechnen.ts",
        path="scripts/nachberechnen.ts",
        content=SCRIPT,
    )
    log.calls(
        "bash",
        _affected(),
        command="pnpm tsx scripts/nachberechnen.ts --seit 2026-01-01 --dry-run --env .env.test",
    )
    log.says(
        "dry-run 的结果：2026-01-01 以来共有 38 个订单金额不同，合计 41 分；没有发任何邮件。"
        "清单写在"
        " reports/nachberechnung-2026-02.csv。"
    )
    log.user(
        "很好。正式执行要等 Brandt 女士确认之后，在那之前不要运行。先改发票模板 "
        "templates/rechnung.hbs：在页脚"
        "加一句 „Die Umsatzsteuer wird je Steuersatz berechnet.“，然后给我看 PDF。"
    )
    log.calls("read", _template(), path="templates/rechnung.hbs")
    log.calls(
        "edit",
        "Edited templates/rechnung.hbs",
        path="templates/rechnung.hbs",
        oldText='<p class="fuss">{{firma.ustId}}</p>',
        newText='<p class="fuss">{{firma.ustId}}</p>\n<p class="fuss">Die Umsatzsteuer wird je'
        " Steuersatz berechnet.</p>",
    )
    log.calls(
        "bash",
        "Error: Could not find Chromium (ver. 131.0.6778.204)\n    at ChromeLauncher.resolve"
        " (node_modules/puppeteer/lib/ChromeLauncher.js:171:12)\nELIFECYCLE Command failed with"
        " exit code 1.",
        failed=True,
        text="页脚已加，现在生成 PDF。",
        command="pnpm rechnung:pdf 20931 --env .env.test",
    )


def _tree() -> str:
    pages = ("Warenkorb", "Adresse", "Zahlung", "Bestaetigung", "Konto", "Abo", "Suche", "Kontakt")
    return "\n".join(
        [
            "src/checkout/totals.ts",
            *(f"src/checkout/{page}Seite.tsx" for page in pages),
            *(f"src/components/{page}Karte.tsx" for page in pages),
            "src/i18n/de.json",
            "services/rechnung/summen.ts",
            "services/rechnung/pdf.ts",
            "services/mail/versand.ts",
            "templates/rechnung.hbs",
            "scripts/bestellung.ts",
        ]
    )


def _cart_page() -> str:
    rows = "\n".join(
        f'      <Zeile key="{n}" titel={{t("warenkorb.feld{n:02d}")}} wert={{felder[{n}]}} />'
        for n in range(60)
    )
    body = f"    <Seite>\n{rows}\n    </Seite>"
    return f"export function WarenkorbSeite() {{\n  return (\n{body}\n  );\n}}"


def _strings() -> str:
    rows = [f'  "warenkorb.feld{n:02d}": "Angabe {n} zu Ihrer Bestellung",' for n in range(80)]
    rows.insert(41, '  "warenkorb.hinweis": "Prüfe deine Bestellung, bevor du bezahlst.",')
    return "\n".join(["{", *rows])


def _order() -> str:
    goods = ("Yirgacheffe 250 g", "Sidamo 250 g", "Huila 500 g", "Santos 250 g", "Antigua 250 g")
    rows = [f"{n}  {name:22} 7 %   {664 + 13 * n:5d} ct netto" for n, name in enumerate(goods, 1)]
    notes = [f"   charge {n:04d} geröstet am 2026-01-{n % 28 + 1:02d}" for n in range(1180, 1230)]
    return "\n".join(
        [
            "Bestellung 20931",
            *rows,
            "6  Filterpapier           19 %    812 ct netto",
            *notes,
            "Kasse 4790 ct, Rechnung 4789 ct, Differenz 1 ct",
        ]
    )


def _unit(failing: int) -> str:
    rows = [f" ✓ tests/unit/{name}.test.ts ({n + 3} tests)" for n, name in enumerate(_SUITES)]
    if failing:
        rows.append(" ✗ tests/unit/totals.test.ts > rundet je Steuersatz")
        rows.append("AssertionError: expected 4790 to be 4789 // Object.is equality")
        rows.append(" ❯ tests/unit/totals.test.ts:22:31")
    rows.append(f" Tests  {f'{failing} failed | ' if failing else ''}{212 - failing} passed (212)")
    return "\n".join(rows)


def _types() -> str:
    return "\n".join(
        [*(f"checked src/module{n:03d}.ts" for n in range(70)), "0 errors, 0 warnings"]
    )


def _e2e() -> str:
    rows = [f"  ✓ {n:2d} {name}.spec.ts ({n + 1}.{n}s)" for n, name in enumerate(_SUITES)]
    return "\n".join(
        [
            *rows,
            "  ✗ bezahlen.spec.ts:48 › Kundin bezahlt mit Karte (30.1s)",
            "    TimeoutError: locator.waitFor: Timeout 30000ms exceeded.",
            "    waiting for locator('[data-testid=zahlung-iframe]') to be visible",
            "      at tests/e2e/bezahlen.spec.ts:48:40",
            f"  1 failed, {len(_SUITES)} passed",
        ]
    )


def _spec() -> str:
    steps = "\n".join(f"  await page.getByLabel('Angabe {n}').fill('Wert {n}');" for n in range(40))
    return (
        f"test('Kundin bezahlt mit Karte', async ({{ page }}) => {{\n{steps}\n"
        "  await page.locator('[data-testid=zahlung-iframe]').waitFor();\n});"
    )


def _iframe_log() -> str:
    rows = [f"13:{n:02d}:04 POST /v1/customers 200 req_{7000 + n}" for n in range(55)]
    rows.append("13:58:11 POST /v1/payment_intents 409 idempotency_key_in_use req_7091")
    return "\n".join(rows)


def _mailer() -> str:
    kinds = ("Bestellbestaetigung", "Versand", "Rechnung", "Storno", "Abo", "Erinnerung")
    return "\n\n".join(
        f"export async function sende{kind}(auftrag: Auftrag) {{\n"
        f"  const html = await vorlage('{kind.lower()}', auftrag);\n"
        f"  await smtp.sendMail({{ to: auftrag.email, subject: t('mail.{kind}'), html }});\n}}"
        for kind in kinds
    )


def _affected() -> str:
    rows = [
        f"{20400 + 17 * n}  Kasse {1990 + 131 * n:5d} ct  Rechnung {1989 + 131 * n:5d} ct  -1"
        for n in range(38)
    ]
    return "\n".join([*rows, "38 Bestellungen, Summe der Differenzen 41 ct, dry-run, 0 Mails"])


def _template() -> str:
    rows = "\n".join(
        f"  <tr><td>{{{{position.{n}.titel}}}}</td><td>{{{{position.{n}.netto}}}}</td></tr>"
        for n in range(40)
    )
    return f'<table>\n{rows}\n</table>\n<p class="fuss">{{{{firma.ustId}}}}</p>'


_SUITES = (
    "abo",
    "adresse",
    "auslieferung",
    "gutschein",
    "konto",
    "lager",
    "mail",
    "roestung",
    "suche",
    "versandkosten",
    "warenkorb",
)

TOTALS = """import type { Line } from './types';

/** Brutto je Position, in Cent. */
export function grossOfLine(line: Line): number {
  return line.net * line.quantity + roundHalfUp(line.net * line.quantity * line.rate, 100);
}

/** Summe, die im Bestellvorgang angezeigt und abgebucht wird, in Cent. */
export function grossTotal(lines: readonly Line[]): number {
  return lines.reduce((sum, line) => sum + grossOfLine(line), 0);
}

/** Kaufmännisch gerundet: value / divisor. */
export function roundHalfUp(value: number, divisor: number): number {
  return Math.floor((2 * value + divisor) / (2 * divisor));
}"""

INVOICE = """/** Summen der Rechnung, je Steuersatz, in Cent. */
export function summen(positionen: readonly Position[]): Summen {
  const netto = new Map<number, number>();
  for (const p of positionen) {
    netto.set(p.satz, (netto.get(p.satz) ?? 0) + p.netto * p.menge);
  }
  const steuer = [...netto].map(([satz, summe]) => [satz, kaufmaennisch(summe * satz, 100)]);
  return { netto, steuer: new Map(steuer as [number, number][]) };
}"""

TEST = """import { describe, expect, it } from 'vitest';
import { grossTotal } from '../../src/checkout/totals';

describe('grossTotal', () => {
  it('rundet je Steuersatz', () => {
    const lines = [677, 690, 703, 716, 729].map((net) => ({ net, quantity: 1, rate: 7 }));
    expect(grossTotal([...lines, { net: 812, quantity: 1, rate: 19 }])).toBe(4789);
  });
});"""

DU = """42:  "warenkorb.hinweis": "Prüfe deine Bestellung, bevor du bezahlst.","""

SCRIPT = """import { grossTotal } from '../src/checkout/totals';
import { summen } from '../services/rechnung/summen';
import { bestellungenSeit } from './bestellung';

const optionen = lies(process.argv);
if (!optionen.dryRun) {
  throw new Error('Nur mit --dry-run, bis Frau Brandt zugestimmt hat.');
}
for await (const bestellung of bestellungenSeit(optionen.seit)) {
  const kasse = bestellung.abgebucht;
  const rechnung = brutto(summen(bestellung.positionen));
  if (kasse !== rechnung) {
    zeile(bestellung.nummer, kasse, rechnung);
  }
}"""
