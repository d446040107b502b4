"""Chinese, Japanese, Korean, Vietnamese, Indonesian, Malay, Filipino and Thai."""

from knowledge.screening.concepts import Concept as C

WORDS: dict[C, str] = {
    C.OVERRIDE: """
        忽略, 无视, 無視, 忘记, 忘記, 忘掉, 不要理会, 不要理會, 不必理会, 不理会, 抛开, 拋開,
        丢弃, 丟棄, 绕过, 繞過, 跳过, 不再遵守, 不要遵守, 不再遵循, 作废, 失效, 撤销, 覆盖,
        無視し, 無視して, 忘れて, 忘れなさい, 破棄, 従わない, 従うな, 取り消し, 無効, 무시하,
        무시해, 무시하고, 무시하십시오, 잊어버리, 잊고, 잊어, 따르지 마, 따르지 말, 무효, 폐기,
        bỏ qua, phớt lờ, quên đi, hãy quên, quên hết, đừng tuân, không tuân theo, lờ đi,
        không còn hiệu lực, vô hiệu, abaikan, lupakan, jangan ikuti, kesampingkan, hiraukan,
        tidak berlaku lagi, jangan patuhi, ketepikan, kalimutan, huwag pansinin, balewalain,
        เพิกเฉย, ละเว้น, ลืมคำ, ลืมทุก, ลืม, ไม่ต้องสนใจ, อย่าทำตาม, ข้าม
    """,
    C.GUIDANCE: """
        指令, 指示, 规则, 規則, 规定, 規定, 命令, 提示词, 提示詞, 系统提示, 系統提示, 准则, 準則,
        要求, 限制, 约束, 约定, 守则, 安全策略, ルール, 制約, プロンプト, 決まり, ガイドライン,
        方針, 指図, 지시, 지침, 명령, 규칙, 프롬프트, 제한, 안내, 규정, chỉ dẫn, hướng dẫn,
        chỉ thị, quy tắc, mệnh lệnh, lời nhắc hệ thống, quy định, giới hạn, lệnh trước,
        instruksi, petunjuk, perintah, aturan, arahan, pedoman, batasan, prompt sistem,
        peraturan, tagubilin, utos, patakaran, alituntunin, คำสั่ง, คำแนะนำ, กฎ, ข้อกำหนด,
        พรอมต์ระบบ, แนวทาง
    """,
    C.TOLD: """
        以上内容, 以上所有, 上述内容, 之前的内容, 之前所说, 之前告诉你, 前面的内容, 以上全部,
        上記すべて, 上記の内容, これまでの内容, 言われたこと, 위의 모든, 위의 내용,
        지금까지의 내용, 들은 것, mọi điều ở trên, những gì đã được, tất cả ở trên,
        những điều trên, semua di atas, segala yang di atas, yang telah dikatakan,
        lahat ng nasa itaas, ทั้งหมดข้างต้น, ทุกอย่างข้างต้น
    """,
    C.PRIOR: """
        之前, 以前, 先前, 此前, 以上, 上述, 前面, 原有, 原来, 原先, 既有, 收到的, 上面, 早先,
        これまで, 以前の, 前の, 上記, 今まで, 従来, 元の, 当初, 先の, 이전, 기존, 지금까지, 앞의,
        앞선, 위의, 원래, 받은, trước đó, trước đây, phía trên, ở trên, trước, ban đầu, đã nhận,
        sebelumnya, terdahulu, di atas, sebelum ini, awal, sejauh ini, terdahulunya, nakaraang,
        naunang, ก่อนหน้า, ที่ผ่านมา, ข้างต้น, เดิม
    """,
    C.ALL: """
        所有, 一切, 全部, 任何, 每个, 每個, 所有的, すべて, 全て, あらゆる, いかなる, 모든, 모두,
        어떤, 전부, tất cả, mọi, toàn bộ, bất kỳ, semua, seluruh, setiap, segala, lahat, bawat,
        ทั้งหมด, ทุก
    """,
    C.YOURS: """
        你的, 您的, 你收到, 你被, 给你的, あなたの, 君の, 与えられた, 당신의, 너의, 네가 받은,
        받은, của bạn, bạn đã nhận, anda, milikmu, instruksimu, aturanmu, kamu, iyong, ของคุณ
    """,
    C.AI: """
        人工智能, 人工智慧, 语言模型, 語言模型, 大模型, 智能助手, 智能体, 智慧助理, ai助手,
        ai模型, ai, 机器人助手, 自动阅读, 自动助手, 聊天机器人, 言語モデル, 人工知能,
        aiアシスタント, aiエージェント, チャットボット, aiへ, 自動読み取り, 生成ai, 인공지능,
        언어 모델, 언어모델, ai 비서, ai 어시스턴트, 챗봇, ai에게, ai는, ai가, ai 모델, 자동화된,
        trí tuệ nhân tạo, mô hình ngôn ngữ, trợ lý ai, chatbot, trợ lý ảo, kecerdasan buatan,
        model bahasa, asisten ai, asisten otomatis, pembaca otomatis, modelo ng wika,
        ปัญญาประดิษฐ์, โมเดลภาษา, แบบจำลองภาษา, เอไอ, ผู้ช่วยอัตโนมัติ
    """,
    C.AGENT: """
        助手, 助理, 代理, 模型, アシスタント, エージェント, モデル, 어시스턴트, 에이전트, 비서,
        모델, trợ lý, tác tử, mô hình, asisten, agen, model, pembantu, katulong, ผู้ช่วย,
        เอเจนต์, โมเดล
    """,
    C.USER: """
        用户, 用戶, 使用者, 读者, 讀者, 客户, 客戶, 任何人, 对方, 提问者, ユーザー, 利用者, 読者,
        顧客, 誰にも, 質問者, 사용자, 이용자, 독자, 고객, 누구에게도, người dùng, người đọc,
        khách hàng, bất kỳ ai, ai biết, pengguna, pembaca, pelanggan, siapa pun, siapapun,
        gumagamit, kaninuman, ผู้ใช้, ผู้อ่าน, ลูกค้า, ใคร
    """,
    C.NOT: """
        不要, 不得, 不能, 不必, 请勿, 无需, 無需, 不可, 绝不, 切勿, 不向, 不让, ないで, ずに,
        ないこと, しない, なりません, せず, 禁止, 決して, 말고, 마라, 마세요, 마십시오, 말 것,
        않고, 없이, 지 말, 절대, đừng, không, chớ, mà không, jangan, tanpa, tidak, jangan pernah,
        tak, huwag, nang hindi, walang, อย่า, ไม่, โดยไม่, ห้าม
    """,
    C.DISCLOSE: """
        告诉, 告訴, 告知, 提及, 提到, 透露, 通知, 说明, 說明, 让用户知道, 知道, 声张, 报告, 伝え,
        知らせ, 言わ, 言及, 報告, 触れ, 話さ, 明かさ, 告げ, 알리, 알려, 말하, 언급, 통보, 보고,
        밝히, nói với, nói cho, đề cập, thông báo, tiết lộ, cho biết, báo cho, nhắc đến,
        memberi tahu, beri tahu, beritahu, menyebut, sebutkan, memberitahu, ungkapkan, laporkan,
        mengatakan, katakan, sabihin, banggitin, ipaalam, บอก, แจ้ง, กล่าวถึง, เปิดเผย
    """,
    C.CONCEAL: """
        保持沉默, 保持安静, 不作声, 沈黙, 不必通知, 无须通知, 不用告诉, 말하지 마,
        jangan katakan, jangan bilang, đừng tiết lộ, 悄悄, 偷偷, 暗中, 秘密地, 私下, 隐瞒, 隱瞞,
        不要告诉, 不要告訴, 别告诉, 不要提及, 不得提及, 不要提到, 无需告知, 无需通知, 不通知,
        不告知, 勿告知, 默默, 保密, 黙った, 黙って, こっそり, 密かに, ひそかに, 内緒, 知らせずに,
        伝えずに, 言わずに, 気づかれ, 伏せ, 隠し, 言及せず, 伝えないで, 知らせないで, 몰래,
        조용히, 비밀리에, 은밀히, 알리지, 말하지, 언급하지, 숨기, 모르게, âm thầm, lặng lẽ,
        bí mật, kín đáo, giấu, đừng nói, không báo, không nói, đừng cho, mà không nói, diam-diam,
        secara rahasia, sembunyikan, rahasiakan, tanpa sepengetahuan, jangan beri tahu,
        jangan sebutkan, tanpa memberi tahu, senyap, palihim, nang lihim, huwag sabihin, แอบ,
        อย่างลับ, เงียบ ๆ, เงียบๆ, อย่าบอก, ไม่บอก, ปิดบัง, โดยไม่แจ้ง
    """,
    C.ASK: """
        询问, 詢問, 确认, 確認, 许可, 許可, 批准, 同意, 审核, 審核, 请示, 承認, 尋ね, 聞か, 묻지,
        확인, 허락, 승인, 동의, 검토, hỏi, xác nhận, cho phép, phê duyệt, đồng ý, bertanya,
        konfirmasi, persetujuan, izin, peninjauan, kebenaran, magtanong, pahintulot,
        kumpirmasyon, ถาม, ยืนยัน, อนุญาต, อนุมัติ
    """,
    C.UNASKED: """
        无需确认, 無需確認, 不用确认, 不必询问, 无需询问, 不要询问, 不经确认, 未经确认,
        代替用户同意, 確認せずに, 確認なしに, 確認なしで, 許可なく, 尋ねずに, 聞かずに,
        묻지 말고, 묻지 않고, 확인 없이, 허락 없이, 승인 없이, mà không hỏi, không cần hỏi,
        không cần xác nhận, tanpa bertanya, tanpa konfirmasi, tanpa izin, tanpa persetujuan,
        atas nama pengguna, nang hindi nagtatanong, โดยไม่ต้องถาม, โดยไม่ถาม, ไม่ต้องยืนยัน
    """,
    C.CONSENTED: """
        已经同意, 已同意, 已授权, 已经授权, 已批准, すでに同意, 同意済み, 承認済み, 이미 동의,
        이미 승인, đã đồng ý, đã cho phép, đã phê duyệt, sudah menyetujui, telah menyetujui,
        sudah setuju, ยินยอมแล้ว, อนุญาตแล้ว
    """,
    C.SEND: """
        发送, 發送, 发到, 發到, 发给, 传送, 上传, 上傳, 转发, 轉發, 提交, 发布, 發布, 公开, 复制,
        複製, 附上, 添加, 加入, 嵌入, 插入, 写入, 寄到, 回传, 送信, 送って, 送れ, 送り, 転送,
        アップロード, 投稿, 公開, 追加, 添付, 埋め込, コピー, 貼り付, 挿入, 보내, 전송, 업로드,
        게시, 전달, 공개, 복사, 추가, 첨부, 삽입, 제출, gửi, tải lên, đăng, chuyển tiếp, công bố,
        sao chép, thêm, chèn, đính kèm, kirim, kirimkan, kirimlah, mengirim, unggah, teruskan,
        publikasikan, salin, tambahkan, sisipkan, lampirkan, hantar, muat naik, ipadala,
        i-upload, idagdag, kopyahin, ส่ง, อัปโหลด, โพสต์, เพิ่ม, แนบ, คัดลอก, เผยแพร่
    """,
    C.TALK: """
        对话, 對話, 聊天记录, 聊天紀錄, 会话, 用户的问题, 用户问题, 最后一条消息, 会話, 対話,
        チャット履歴, ユーザーの質問, 最後のメッセージ, やり取り, 대화, 채팅 기록, 사용자의 질문,
        마지막 메시지, cuộc trò chuyện, hội thoại, câu hỏi của người dùng, tin nhắn cuối,
        percakapan, obrolan, riwayat chat, pertanyaan pengguna, pesan terakhir, perbualan,
        usapan, การสนทนา, บทสนทนา, คำถามของผู้ใช้, ข้อความล่าสุด
    """,
    C.HOLDINGS: """
        笔记, 筆記, 文件, 文件夹, 档案, 文档, 文檔, 资料, 内容列表, 知识库, 知識庫, 记忆, ノート,
        メモ, ファイル, フォルダ, 文書, ドキュメント, 資料, 一覧, 노트, 메모, 파일, 폴더, 문서,
        목록, 지식 베이스, ghi chú, tệp, tập tin, thư mục, tài liệu, nội dung, catatan, berkas,
        dokumen, pustaka, nota, บันทึก, ไฟล์, โฟลเดอร์, เอกสาร
    """,
    C.CREDENTIAL: """
        密码, 密碼, 口令, 密钥, 密鑰, 令牌, 凭证, 憑證, 验证码, 驗證碼, 私钥, パスワード, 鍵,
        認証情報, トークン, 秘密鍵, 暗証番号, apiキー, 비밀번호, 암호, 토큰, 인증 정보, api 키,
        비밀 키, 인증번호, 키를, mật khẩu, khóa api, khoá, mã thông báo, thông tin đăng nhập,
        mã otp, kata sandi, kunci api, kunci, kredensial, rahasia, kata laluan, password, susi,
        รหัสผ่าน, คีย์, โทเค็น, โทเคน, ข้อมูลเข้าสู่ระบบ
    """,
    C.INNARDS: """
        系统提示, 系統提示, 系统提示词, 你的指令, 你的提示词, 初始指令, 你的规则, 系统消息,
        システムプロンプト, あなたの指示, 内部の指示, システムメッセージ, 시스템 프롬프트,
        시스템 메시지, 너의 지시, 당신의 지침, 내부 지침, lời nhắc hệ thống, prompt hệ thống,
        chỉ dẫn của bạn, prompt sistem, pesan sistem, instruksi anda, instruksimu, พรอมต์ระบบ,
        คำสั่งของคุณ, ข้อความระบบ
    """,
    C.REVEAL: """
        泄露, 洩露, 输出, 輸出, 显示, 顯示, 打印, 列出, 公开, 重复, 复述, 说出, 给出, 展示, 返回,
        表示し, 出力, 開示, 印刷, 列挙, 示せ, 教えて, 一覧にし, 暴露, 출력, 보여, 공개, 나열,
        밝혀, 알려줘, 반복, 표시, tiết lộ, hiển thị, in ra, liệt kê, đưa ra, lặp lại, tampilkan,
        cetak, ungkapkan, daftarkan, sebutkan, tunjukkan, bocorkan, papar, ipakita, ilista, แสดง,
        พิมพ์, เปิดเผย, แจกแจง
    """,
    C.READING: """
        读到本段, 读到本, 看到本段, 阅读到, 读到这, 讀到這, 阅读此, 阅读本, 閱讀此, 读取此,
        看到这, 读取本, 处理本文, 正在阅读, 正在读, 读完, 读到此, 读取到, 如果你是, 若你是,
        当你读, 读者为ai, これを読, この文を読, 読んでいる, 読んだら, 読み取った, 読み込んだ,
        読む際, もしあなたがai, 要約する際, この文章を処理, 이 글을 읽, 이것을 읽, 읽고 있는,
        읽는 즉시, 읽으면, 읽은 후, 읽은 뒤, 이 문서를 처리, 당신이 ai, đọc điều này, đang đọc,
        đọc văn bản này, khi đọc, sau khi đọc, đọc dòng này, nếu bạn là, membaca ini,
        yang membaca, saat membaca, setelah membaca, jika anda adalah, ketika membaca,
        bumabasa nito, kapag nabasa, อ่านข้อความนี้, กำลังอ่าน, เมื่ออ่าน, หลังจากอ่าน,
        ถ้าคุณเป็น, หากคุณเป็น
    """,
    C.ANSWERING: """
        回答前, 回答之前, 每次回答, 每个回答, 任何问题, 所有问题, 在回答中, 回复前, 被问到,
        如果有人问, 今后的回答, 每个问题, 答える前, 回答の前, 毎回の回答, どんな質問,
        すべての質問, あらゆる質問, 回答の最後, 聞かれたら, 尋ねられたら, 답변 전, 답하기 전,
        모든 질문, 어떤 질문, 모든 답변, 답변 끝, 질문을 받으면, 묻는다면, trước khi trả lời,
        mọi câu hỏi, mỗi câu trả lời, bất kỳ câu hỏi, nếu được hỏi, khi được hỏi,
        sebelum menjawab, setiap pertanyaan, setiap jawaban, semua pertanyaan, jika ditanya,
        bila ditanya, bago sumagot, bawat tanong, ก่อนตอบ, ทุกคำถาม, ทุกคำตอบ, เมื่อถูกถาม,
        ถ้ามีคนถาม
    """,
    C.CALL: """
        调用, 調用, 呼叫, 运行, 執行, 执行, 使用, 启动, 呼び出, 実行, 使って, 호출, 실행, 사용하,
        gọi, chạy, thực thi, sử dụng, dùng, panggil, jalankan, gunakan, eksekusi, guna, tawagin,
        patakbuhin, gamitin, เรียก, รัน, ใช้
    """,
    C.TOOL: """
        工具, 命令, ツール, コマンド, 도구, 명령어, công cụ, câu lệnh, alat, perintah,
        kasangkapan, เครื่องมือ, คำสั่ง
    """,
    C.MUST: """
        必须, 必須, 务必, 務必, 应当, 应该, 须, 总是, 始终, 一律, 请, 請, 必ず, 常に, しなければ,
        してください, せよ, べき, なさい, 반드시, 항상, 해야, 하십시오, 하세요, 하라, phải, luôn,
        hãy, cần, bắt buộc, xin hãy, harus, wajib, selalu, mesti, hendaklah, tolong, dapat,
        kailangan, palagi, ต้อง, เสมอ, จง, โปรด, ควร
    """,
    C.HENCEFORTH: """
        从现在起, 从现在开始, 從現在起, 從現在開始, 今后, 此后, 以后都, 自此, 新的任务, 新任务,
        新指令, 真正的任务, 你现在是, 新规则, 从此刻起, これからは, 今後は, 今後, 以後, 今から,
        新しい指示, 新しい任務, 本当の任務, あなたは今, 本来のタスク, 지금부터, 이제부터,
        앞으로는, 앞으로, 새로운 지시, 새 임무, 진짜 임무, 이제 너는, 이제 당신은, từ bây giờ,
        kể từ bây giờ, từ nay, nhiệm vụ mới, nhiệm vụ thật, chỉ dẫn mới, từ giờ, mulai sekarang,
        sejak saat ini, mulai saat ini, tugas baru, tugas anda sebenarnya, tugasmu sebenarnya,
        instruksi baru, aturan baru, mula sekarang, mula ngayon, simula ngayon, ตั้งแต่นี้,
        ต่อจากนี้, จากนี้ไป, ตั้งแต่บัดนี้, งานใหม่ของคุณ, คำสั่งใหม่
    """,
    C.OBEY: """
        服从, 服從, 听从, 聽從, 只遵循, 只遵守, 只听, 遵照本, 按照本文, 视为命令, 当作命令,
        当成指令, 视为指令, 只执行, 最高优先, 優先级最高, 从属于, 従って, 従え, 従い, のみに従,
        だけに従, 命令とみなし, 指示として扱, として扱, 最優先, 복종, 따르라, 만 따르, 만 따라,
        명령으로, 지시로 간주, 최우선, tuân theo, chỉ tuân, chỉ làm theo, nghe theo,
        coi như lệnh, làm theo, patuhi, ikuti hanya, hanya ikuti, turuti, perlakukan,
        sebagai perintah, ikut hanya, sundin, sumunod, เชื่อฟัง, ทำตาม, ปฏิบัติตาม,
        ถือว่าเป็นคำสั่ง
    """,
    C.SAY: """
        回答, 回复, 回覆, 答复, 说, 声称, 宣称, 写, 描述为, 称, 答え, 返答, 言って, 書いて, 主張,
        述べ, 답하, 대답, 말하라, 응답, 답변하, 주장, 써라, 쓰세요, trả lời, nói rằng, viết,
        khẳng định, tuyên bố, jawab, jawablah, menjawab, katakan, tulis, nyatakan, balas,
        sagutin, sabihin, ตอบ, พูด, เขียน, ระบุว่า
    """,
    C.SKIP: """
        跳过, 跳過, 略过, 关闭, 禁用, 停用, 批准, 通过, 同意, 直接确认, 绕过, スキップ, 省略,
        承認, 無効に, オフに, 許可, 回避, はいと答え, 건너뛰, 생략, 승인, 비활성, 끄고, 우회,
        예라고, bỏ qua, tắt, phê duyệt, chấp nhận, đồng ý, vô hiệu hóa, lewati, lewatkan,
        matikan, setujui, terima, nonaktifkan, langkau, laktawan, aprubahan, ข้าม, ปิด, อนุมัติ,
        ยอมรับ
    """,
    C.SAFEGUARD: """
        确认, 審核, 审核, 审查, 验证, 驗證, 权限提示, 权限, 許可, 警告, 检查, 安全, 校验, 確認,
        検証, 承認, 権限, 審査, チェック, 확인, 검증, 승인, 권한, 경고, 검토, 보안, 안전,
        xác nhận, kiểm tra, xác minh, cảnh báo, phê duyệt, quyền, an toàn, konfirmasi,
        verifikasi, validasi, peringatan, izin, persetujuan, pemeriksaan, keamanan, tinjauan,
        beripikasyon, การยืนยัน, การตรวจสอบ, คำเตือน, การอนุญาต, ความปลอดภัย
    """,
    C.LATER: """
        后续代理, 之后的代理, 以后的代理, 其他代理, 今後のエージェント, 後続のエージェント,
        次のエージェント, 이후 에이전트, 다음 에이전트, 후속 에이전트, các tác tử sau,
        agen berikutnya, agen selanjutnya, เอเจนต์ถัดไป, 每次运行, 毎回
    """,
    C.RANK: """
        当社製品, 弊社製品, 第一に勧め, 第一に, 本公司产品, 我们的产品, 本产品, 自社製品,
        우리 제품, 당사 제품, 자사 제품, sản phẩm của chúng tôi, produk kami, 推荐, 推薦, 首选,
        排在第一, 排名第一, 最好, 最佳, 优先, 满分, 评分, 好评, 唯一, 推奨, 勧め, おすすめ, 最高,
        一位, 最上位, 満点, 高く評価, 最も, 추천, 최고, 1위, 첫 번째, 만점, 가장, 우선,
        giới thiệu, khuyên dùng, đề xuất, tốt nhất, hàng đầu, đầu tiên, điểm tối đa,
        rekomendasikan, sarankan, terbaik, pertama, peringkat, utamakan, nilai tertinggi,
        irekomenda, pinakamahusay, แนะนำ, ดีที่สุด, อันดับหนึ่ง, คะแนนเต็ม
    """,
    C.OTHERS: """
        他社製品, 他の商品, 他家产品, 타사 제품, 타사, 竞争对手, 競爭對手, 其他供应商, 其他产品,
        其他所有, 其他技能, 替代, 競合, 他社, 他の製品, その他すべて, 代替, 경쟁사, 경쟁 업체,
        다른 제품, 다른 모든, 대안, đối thủ, sản phẩm khác, nhà cung cấp khác, lựa chọn khác,
        pesaing, produk lain, pemasok lain, alternatif, semua yang lain, kakumpitensya, คู่แข่ง,
        ทางเลือกอื่น
    """,
    C.OMIT: """
        触れないこと, 触れず, 빼고, 제외하고, 不要提, 不提及, 省略, 不要提及, 不得提及, 不提,
        隐去, 隐瞒, 略去, 触れない, 言及しない, 伏せ, 除外, 생략, 언급하지, 숨기, bỏ qua,
        không đề cập, không nhắc, hilangkan, jangan sebutkan, tidak menyebut, abaikan,
        huwag banggitin, อย่ากล่าวถึง, ละ
    """,
    C.DRAWBACK: """
        风险, 風險, 副作用, 缺点, 缺點, 缺陷, 投诉, 负面, リスク, 欠点, 欠陥, 苦情, 弱点, 위험,
        부작용, 단점, 결함, 불만, 약점, rủi ro, tác dụng phụ, nhược điểm, khiếu nại, khuyết điểm,
        risiko, efek samping, kelemahan, keluhan, kekurangan, panganib, ความเสี่ยง, ผลข้างเคียง,
        ข้อเสีย, ข้อร้องเรียน
    """,
    C.PERSONA: """
        你现在是, 你現在是, 假装, 假裝, 扮演, 你不再是, あなたは今, あなたはこれから, ふりをし,
        演じ, なりきっ, 너는 이제, 당신은 이제, 척해, 역할을, bây giờ bạn là, bạn là, giả vờ,
        đóng vai, kamu sekarang adalah, anda sekarang adalah, sekarang kamu, berpura-pura,
        berperan, ikaw ngayon, magpanggap, ตอนนี้คุณคือ, สวมบทบาท, แกล้งทำ
    """,
    C.UNBOUND: """
        没有限制, 沒有限制, 不受限制, 无限制, 没有规则, 没有任何限制, 不会拒绝, 从不拒绝, 无审查,
        制限なし, 制限のない, 制約のない, ルールのない, 拒否しない, 拒まない, 제한 없이,
        제한이 없는, 규칙이 없는, 거부하지 않, không giới hạn, không bị giới hạn,
        không có quy tắc, không bao giờ từ chối, không kiểm duyệt, tanpa batasan, tanpa aturan,
        tanpa filter, tanpa sensor, tidak pernah menolak, walang limitasyon, ไม่มีข้อจำกัด,
        ไม่มีกฎ, ไม่ปฏิเสธ, 开发者模式, 開発者モード, 개발자 모드
    """,
    C.AUTHORITY: """
        管理员, 管理員, 运营方, 操作员, 开发者, 系统管理, 官方, 管理者, 運営, 開発者,
        オペレーター, 관리자, 운영자, 개발자, quản trị viên, nhà phát triển, người vận hành,
        administrator, operator, pengembang, pentadbir, tagapangasiwa, ผู้ดูแลระบบ, ผู้พัฒนา
    """,
    C.THIS: """
        本文, 本条, 本笔记, 此文, 此文档, 本页, 这段文字, 这条, 此笔记, この文, この文章,
        このメモ, このノート, このページ, 本書, 이 글, 이 문서, 이 메모, 이 페이지, 이 텍스트,
        văn bản này, ghi chú này, tài liệu này, trang này, teks ini, catatan ini, dokumen ini,
        halaman ini, tekstong ito, ข้อความนี้, เอกสารนี้, หน้านี้
    """,
    C.HARM: """
        删除, 刪除, 清空, 转账, 轉帳, 付款, 汇款, 授权, 削除, 消去, 送金, 支払, 振り込, 삭제,
        송금, 결제, 지불, 이체, xóa, xoá, chuyển tiền, thanh toán, hapus, transfer, bayar, padam,
        burahin, magbayad, ลบ, โอนเงิน, จ่าย
    """,
    C.DISCUSSED: """
        例如, 比如, 例子, 示例, 句子, 这样的句, 引用, 小说, 演示, 例えば, という文, という一文,
        小説, 예를 들어, 예시, 문장, 인용, 소설, ví dụ, chẳng hạn, câu này, trích dẫn,
        tiểu thuyết, contoh, misalnya, kalimat, kutipan, novel, seperti, halimbawa, ตัวอย่าง,
        เช่น, ประโยค, นวนิยาย
    """,
    C.ATTACK: """
        攻击, 攻擊, 攻击者, 注入, 恶意, 惡意, 防御, 攻撃, 攻撃者, インジェクション, 悪意, 対策,
        공격, 공격자, 인젝션, 주입, 악의, 방어, tấn công, kẻ tấn công, độc hại, phòng chống,
        serangan, penyerang, injeksi, berbahaya, pag-atake, การโจมตี, ผู้โจมตี
    """,
    C.TOPIC: """
        包装上, 包裝上, 我之前的消息, 我上一条, 説明書の, 袋の表示, 箱の, 以前の掲示, 前のメール,
        先ほどのメール, 포장지, 포장의, 이전 메일, 제 이전, trên bao bì, tin nhắn trước của tôi,
        pada kemasan, di kemasan, pesan saya, บนบรรจุภัณฑ์, ข้อความก่อนหน้าของฉัน
    """,
    C.SOLICIT: """
        向用户索要, 要求用户提供, 请用户提供, 询问用户的, 让用户输入, 要求用户输入,
        ユーザーに尋ね, ユーザーに入力, ユーザーから聞き出, 사용자에게 요청, 사용자에게 물어,
        yêu cầu người dùng nhập, hỏi người dùng mật, minta pengguna, tanyakan kepada pengguna,
        ขอให้ผู้ใช้
    """,
    C.DIGEST: """
        总结, 概括, 摘要, 翻译, 處理, 处理, 总结本, 總結, 翻譯, 要約, 翻訳, 処理, まとめ, 요약,
        번역, 처리, tóm tắt, dịch, xử lý, meringkas, merangkum, ringkas*, rangkum*, terjemah*,
        menerjemahkan, memproses, สรุป, แปล, ประมวลผล
    """,
}
