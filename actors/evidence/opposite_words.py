"""Words that mean the contrary of each other, and acts that a reader may regret: data, in several languages."""

OPPOSITE_WORDS = """
    turn* on; turn* ... on; switch* on; switch* ... on; set* ... to on; enabl*; activat*; einschalt*; aktivier*;
      activer; activez; activé*; activad*; habilit*; 启用; 开启; 打开; 켜; 활성화
    / turn* off; turn* ... off; switch* off; switch* ... off; set* ... to off; disabl*; deactivat*; ausschalt*;
      deaktivier*; désactiv*; deshabilit*; desactiv*; 禁用; 关闭; 停用; 꺼; 끄; 비활성화

    fast; faster; fastest; quick*; rapid*; schnell*; rapide*; rápid*; 更快; 加快; 빠르; 빨라
    / slow; slower; slowest; slowly; langsam*; lent*; 更慢; 减慢; 느리; 느려

    increas*; rais*; grow*; higher; highest; larger; bigger; erhöh*; höher*; größer*; augment*; aument*; 增加;
      提高; 更高;
      증가; 높
    / decreas*; reduc*; lower*; shrink*; smaller; lowest; verringer*; senk*; niedriger*; kleiner*; diminu*;
      disminu*; réduit*; 减少; 降低; 更低; 감소; 낮

    more; longer; mehr; länger*; plus de; más; 更多
    / less; fewer; shorter; weniger; kürzer*; moins; menos; 更少

    at least; minimum; no less than; mindestens; au moins; al menos; 至少; 最少; 최소
    / at most; maximum; up to; no more than; höchstens; maximal; au plus; como máximo; 至多; 最多; 최대

    allow*; permit*; erlaub*; autoris*; permet*; permit*; 允许; 可以; 허용
    / forbid*; forbidden; prohibit*; denied; deny; disallow*; verboten; verbiet*; interdi*; prohíb*; prohib*; 禁止;
      不允许; 금지

    before; prior to; vor; avant; antes; 之前; 以前; 이전; 전에
    / after; afterwards; following; nach; après; después; 之后; 以后; 이후; 후에

    immediate*; instant*; at once; right away; sofort; immédiat*; inmediat*; 立即; 马上; 즉시
    / later; delay*; eventually; after a reboot; after a restart; next restart; verzöger*; später; plus tard; más
      tarde; 稍后; 延迟; 나중

    always; immer; toujours; siempre; 总是; 始终; 항상
    / never; seldom; rarely; nie; niemals; jamais; nunca; 从不; 绝不; 결코

    required; require*; mandatory; compulsory; obligatory; must; erforderlich; zwingend; obligatoire; obligatori*;
      必须; 强制; 필수
    / optional*; option; voluntary; facultatif; facultative; opcional; freiwillig; 可选; 选择性; 선택

    keep; keeps; kept; surviv*; persist*; retain*; preserve*; remain*; behalt*; bleib*; bleiben; conserv*; 保留; 유지;
      보존
    / drop; drops; dropped; delet*; remov*; discard*; eras*; wip*; lost; lose; loses; vanish*; gelöscht; lösch*;
      entfern*; supprim*; elimin*; borra*; 删除; 丢弃; 清除; 삭제; 제거

    add; adds; added; adding; hinzufüg*; ajout*; añad*; 添加; 추가
    / remov*; subtract*; entfern*; supprim*; quita*; 移除; 제거

    start; starts; started; begin*; starten; démarr*; inici*; 启动; 시작
    / stop; stops; stopped; halt*; stoppen; arrêt*; deten*; 停止; 중지

    open; opens; opened; öffn*; ouvr*; abr*; 打开; 열
    / close; closes; closed; shut; schließ*; ferm*; cierr*; cerr*; 关闭; 닫

    accept*; akzept*; 接受; 수락
    / reject*; refus*; declin*; ablehn*; rechaz*; 拒绝; 거부

    includ*; einschließ*; enthält; inclu*; 包括; 包含; 포함
    / exclud*; ausschließ*; exclu*; 排除; 不包括; 제외

    lock; locks; locked; locking; sperr*; verrouill*; bloque*; 锁定; 잠
    / unlock*; entsperr*; déverrouill*; desbloque*; 解锁; 해제

    connect; connects; connected; verbind*; 连接; 연결
    / disconnect*; trenn*; getrennt; déconnect*; desconect*; 断开; 끊

    succe*; erfolgreich*; réuss*; éxito; 成功; 성공
    / fail*; scheiter*; fehlgeschlagen; échou*; fracas*; falla*; 失败; 실패

    valid; gültig*; valide; válid*; 有效; 유효
    / invalid; expire*; ungültig*; abgelaufen; expir*; invalid*; inválid*; 无效; 过期; 만료

    automatic*; automatisch*; automatiqu*; automátic*; 自动; 자동
    / manual*; by hand; von hand; manuell*; manuel*; 手动; 수동

    temporar*; vorübergehend*; temporaire*; temporal*; 临时; 임시
    / permanent*; dauerhaft*; definitiv*; 永久; 영구

    encrypt*; verschlüssel*; chiffr*; cifrad*; 加密; 암호화
    / unencrypted; plain text; cleartext; decrypt*; unverschlüsselt*; 明文; 未加密; 평문

    first; erste*; premier*; primer*; 第一; 首先; 먼저
    / last; finally; letzte*; dernier*; últim*; 最后; 마지막

    oldest; älteste*; 最旧; 最早
    / newest; latest; neueste*; 最新

    upload*; hochlad*; 上传; 업로드
    / download*; herunterlad*; 下载; 다운로드

    import; imports; imported; importier*; 导入; 가져오
    / export; exports; exported; exportier*; 导出; 내보내

    upgrad*; 升级
    / downgrad*; 降级

    free; waive*; for nothing; gratis; kostenlos*; gratuit*; 免费; 무료
    / paid; pay; pays; at a charge; kostenpflichtig*; payant*; de pago; 付费; 收费; 유료

    safe; safely; no harm; harmless; sicher; gefahrlos; 安全; 안전
    / unsafe; lost; loses; dangerous*; harmful; gefährlich*; dangereu*; peligros*; 危险; 위험

    greater than; more than; above; 大于; 高于; 초과
    / less than; fewer than; below; 小于; 低于; 미만

    at the start; at the beginning; zu beginn; au début; al principio; 开始时
    / at the end; am ende; à la fin; al final; 结束时

    inside; within; innerhalb; 内部
    / outside; außerhalb; 外部

    public; öffentlich*; 公开; 공개
    / private; privat; 私有; 비공개

    possible; able; möglich; 可能; 가능
    / impossible; unable; unmöglich; 不可能; 불가능

    internal*; intern; interne*
    / external*; extern; externe*

    synchronous*; synchron*
    / asynchronous*; asynchron*

    only; exclusively; nur; ausschließlich; seulement; uniquement; sólo; solo; 只有; 仅; 만
    / everybody; everyone; anyone; anybody; whoever; jeder; jedermann; tout le monde; todos; 所有人; 任何人;
      누구나; 모두

    left; links; izquierd*; gauche; 左; 왼쪽
    / right; rechts; derech*; droit*; 右; 오른쪽

    ascend*; aufsteigend*; 升序
    / descend*; absteigend*; 降序
"""
"""
Pairs, parted by empty lines, the second side of each behind a slash. Words and beginnings of words (`rapid*`), in
English, German, French, Spanish, Chinese and Korean: a claim may be in another language than its quote.
"""

ACT_WORDS = """
    delete; deleting; remove; erase; overwrite; purge; rm -rf; lösch*; supprimez; elimin*; borr*; 删除; 清空; 삭제
    / delet*; remov*; eras*; wip*; overw*; purg*; drop*; truncat*; discard*; clean*; clear*; recycl*; uninstall*;
      rm; lösch*; entfern*; supprim*; elimin*; borr*; 删除; 移除; 清; 삭제; 제거

    restart*; reboot*; neu start*; neustart*; neu zu starten; redémarr*; reinici*; 重启; 重新启动; 재시작; 재부팅
    / restart*; reboot*; start*; boot*; power cycl*; shut*; neu*; starten; start; gestartet; redémarr*; démarr*;
      reinici*; inici*; arranque; 重启; 重新启动; 启动; 재시작; 재부팅; 시작

    reinstall*; uninstall*; format the; reformat*; factory reset; neu installier*; deinstallier*; réinstall*;
      reinstala*; 重装; 卸载; 格式化; 재설치; 포맷
    / install*; uninstall*; reinstall*; format*; reset*; remov*; installier*; deinstallier*; instala*; 安装; 卸载;
      重装;
      格式化; 설치; 포맷

    call our; call the hotline; call support; phone; hotline; telephone; anrufen; rufen; appelez; llame; 拨打;
      致电; 전화
    / call*; phon*; telephon*; hotline; dial*; ring*; anruf*; ruf*; appel*; llam*; telefon*; 电话; 拨打; 致电; 전화

    pay; purchase; buy; bezahl*; kaufen; payez; achetez; pague; compre; 付款; 购买; 지불; 구매
    / pay*; paid; purchas*; buy*; bought; charg*; price*; cost*; fee*; invoice*; bezahl*; kauf*; pay*; ach*; pag*;
      compr*; 付; 购买; 费; 지불; 구매; 요금

    send us; send your; email; e-mail; share your password; tell your password; 发送给; 보내
    / send*; sent; forward*; submit*; share*; contact*; tell; 发送; 邮件; 보내; 메일
"""
"""What a reader might do at once and regret, and behind the slash what a quote must hold that bears it out."""
