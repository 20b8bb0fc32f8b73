"""What the tests of the knowledge share: folders of small documents, and the workers that read them."""

from pathlib import Path

VPN = """# VPN handbook

## Install the client

Open the software centre and choose Terminus Connect. Restart the computer afterwards.

## Enrol a tablet

1. Start the tablet and join the guest network.
2. Scan the enrolment code.
3. Wait until the certificate has arrived.

## Renew the session

The session key of the VPN expires after 60 minutes. Switch on "Renew automatically" under Settings,
and the client renews the key by itself.

    terminusctl set renew=auto

## Error codes

| Error | Remedy |
|-------|--------|
| 619   | use the cable instead of the guest network |
| 809   | ask the network team to open UDP port 4500 |
"""
PRINTER = """Printer guide
=============

To connect a printer, open Settings and press "Add a printer". The printer on the third floor is called HP-3F.

The toner of a printer is replaced by the facility team; write them a message with the room number.
"""
ACCOUNT = """<html><head><title>Accounts</title></head><body><h1>Accounts</h1>
<h2 id="lock">Locked accounts</h2><p>An account is locked after five wrong passwords. It is unlocked by itself after
twenty minutes, or at once by the service desk.</p></body></html>"""
CHINESE = """# 员工帮助

## 重置密码

如果忘记密码，请打开自助门户，点击“忘记密码”，输入工号和验证码，然后设置新密码。

## 报销流程

出差回来后三十天内提交报销单，发票必须写明公司全称。
"""
KOREAN = """# 사내 안내서

## 비밀번호 재설정

비밀번호를 잊어버린 경우 포털 화면에서 "비밀번호 찾기"를 누르고 사번을 입력하십시오.

## 휴가 신청

휴가는 최소 3일 전에 그룹웨어에서 신청해야 합니다.
"""


def library(folder: Path) -> Path:
    """A folder with a document of each kind and language."""
    (folder / "sub").mkdir(parents=True)
    (folder / "vpn.md").write_text(VPN)
    (folder / "printer.txt").write_text(PRINTER)
    (folder / "sub" / "account.html").write_text(ACCOUNT)
    (folder / "sub" / "chinese.md").write_text(CHINESE)
    (folder / "sub" / "korean.md").write_text(KOREAN)
    return folder
