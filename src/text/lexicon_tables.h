// lexicon_tables.h — the tables behind lexicon.h. Words are separated by spaces; '_' is a space within a phrase.
#pragma once

#include <string_view>

namespace hengshi::text {

struct Pair {
  std::string_view name, positive, negative;
};

inline constexpr Pair kPairs[] = {
    {"switch", "开启 打开 启用 开通 激活 启动 开机 开着 开 enable activate open",
     "关闭 关掉 关上 停用 禁用 关机 关停 关了 关着 关 disable deactivate close shut"},
    {"connect", "连接 连上 接通 联网 配对 绑定 connect reconnect pair bind link",
     "断开 断网 断连 解绑 解除绑定 取消配对 disconnect unpair unbind unlink"},
    {"login", "登录 登陆 登入 login signin logon", "退出 登出 注销 logout signout logoff"},
    {"account", "注册 开户 register", "注销 销户 deregister"},
    {"amount",
     "增加 提高 上调 调高 调大 提升 上升 上涨 涨价 升高 加大 增大 增多 加快 调亮 放大 延长 升温 increase raise boost "
     "extend enlarge",
     "减少 降低 下调 调低 调小 下降 下跌 降价 减小 缩小 减低 减慢 调暗 缩短 降温 decrease reduce lower shorten shrink"},
    {"grade", "升级 upgrade", "降级 downgrade"},
    {"order", "之前 以前 before prior earlier ago", "之后 以后 after afterwards later"},
    {"meal", "饭前 餐前 睡前 饭前吃", "饭后 餐后 睡后"},
    {"advance", "提前 提早 early", "推迟 延迟 延后 延期 late postpone delay"},
    {"start", "开始 start begin resume", "结束 停止 终止 暂停 stop end finish pause quit"},
    {"add", "添加 新增 加入 add insert", "删除 移除 去掉 删掉 remove delete erase"},
    {"book", "下单 预订 预约 申请 订购 订阅 subscribe reserve", "取消 撤销 撤回 退订 cancel unsubscribe revoke"},
    {"install", "安装 install reinstall", "卸载 uninstall"},
    {"lock", "锁定 上锁 加锁 冻结 挂失 lock freeze", "解锁 解冻 解挂 unlock unfreeze"},
    {"allow", "允许 同意 接受 批准 通过 allow accept approve permit grant unblock",
     "拒绝 禁止 驳回 拉黑 deny reject refuse block forbid decline ban prohibit"},
    {"trade", "买 购买 买入 买家 buy bought purchase buyer", "卖 出售 卖出 卖家 sell sold seller"},
    {"send", "发送 寄出 寄件 发件 send sent sender", "接收 收到 签收 收件 receive receiver recipient"},
    {"deposit", "转入 存入 存款 充值 deposit", "转出 取出 取款 提现 withdraw withdrawal"},
    {"income", "收入 盈利 income profit", "支出 亏损 expense loss"},
    {"borrow", "借入 borrow borrower", "借出 lend lender lent"},
    {"upload", "上传 upload", "下载 download"},
    {"import", "导入 进口 import", "导出 出口 export"},
    {"input", "输入 input", "输出 output"},
    {"show", "显示 展开 show expand", "隐藏 收起 折叠 hide hidden collapse"},
    {"mute", "静音 mute", "取消静音 unmute"},
    {"follow", "关注 点赞 收藏 follow like", "取消关注 取关 取消点赞 取消收藏 unfollow unlike dislike"},
    {"side", "左 左边 左侧 left", "右 右边 右侧 right"},
    {"face", "前面 前置 前排 前门 前进 front forward", "后面 后置 后排 后门 后退 rear backward backwards"},
    {"vertical", "上面 上方 向上 楼上 上游 upstairs upward upwards",
     "下面 下方 向下 楼下 下游 downstairs downward downwards"},
    {"turn", "上次 上一 上个 上级 previous", "下次 下一 下个 下级 next"},
    {"work", "上班 入职 hire", "下班 离职 fire resign"},
    {"ride", "上车 board", "下车 alight"},
    {"line", "上线 在线 线上 online", "下线 离线 线下 offline"},
    {"shelf", "上架", "下架"},
    {"arrive", "到达 抵达 arrive arrival", "出发 离开 depart departure leave"},
    {"enter", "入住 入口 入境 进入 enter entrance entry", "退房 出口 出境 离店 exit"},
    {"inside", "内部 室内 国内 境内 以内 indoor indoors domestic internal inbound incoming inside",
     "外部 室外 国外 境外 以外 outdoor outdoors international external outbound outgoing outside"},
    {"public", "公开 公有 public", "私密 私有 private"},
    {"gender", "男 先生 爸爸 儿子 male man men boy husband father son",
     "女 女士 妈妈 女儿 female woman women girl wife mother daughter"},
    {"merit", "优点 优势 好处 advantage benefit pros", "缺点 劣势 坏处 disadvantage drawback cons"},
    {"quality", "好评 good better best", "差评 bad worse worst"},
    {"safe", "安全 safe", "危险 unsafe dangerous"},
    {"legal", "合法 legal", "非法 违法 illegal"},
    {"valid", "有效 valid", "无效 失效 invalid expired"},
    {"possible", "possible", "impossible"},
    {"same", "相同 一样 same", "不同 不一样 different"},
    {"speed", "太快 变快 快速 fast quick quickly", "太慢 变慢 慢速 slow slowly"},
    {"heat", "加热 制热 热水 热 hot heat warm", "制冷 冷却 冷水 冷 cold cool"},
    {"extreme", "最大 最高 最多 最长 上限 max maximum highest most largest biggest longest",
     "最小 最低 最少 最短 下限 min minimum lowest least smallest shortest"},
    {"bound", "至多 不超过", "至少 不少于"},
    {"compare", "大于 高于 多于 超过 以上 更多 更大 更高 more above greater larger bigger",
     "小于 低于 少于 不足 以下 更少 更小 更低 less below fewer smaller"},
    {"size", "太大 变大 太高 太长 太亮", "太小 变小 太低 太短 太暗"},
    {"age", "新版 新用户 新手机 新机 新款 new", "旧版 老版 老用户 旧手机 旧机 老款 旧款 old"},
    {"truth", "真的 正品 true real genuine", "假的 假货 false fake"},
    {"married", "已婚 married", "未婚 unmarried"},
    {"cipher", "加密 encrypt", "解密 decrypt"},
    {"compress", "压缩 compress zip", "解压 decompress unzip"},
    {"win", "赢 win won gain", "输了 输掉 lose lost"},
    {"push", "push", "pull"},
    {"card", "信用卡 credit", "借记卡 储蓄卡 debit"},
    {"pay", "预付 prepaid", "后付 postpaid"},
    {"wire", "有线 wired", "无线 wireless"},
    {"hand", "手动 人工 manual manually", "自动 智能客服 automatic automatically"},
    {"rotation", "横屏 horizontal", "竖屏 vertical"},
    {"sign", "阳性 正面 positive", "阴性 负面 反面 negative"},
    {"parity", "奇数 odd", "偶数 even_number"},
    {"rent", "房东 landlord", "租客 房客 tenant"},
    {"wholesale", "批发 wholesale", "零售 retail"},
    {"cheap", "便宜 cheap cheaper", "贵 expensive"},
    {"pole", "north northern", "south southern"},
    {"ocean", "east eastern", "west western"},
    {"plug", "插上 插入 plug", "拔掉 拔出 unplug"},
    {"wear", "穿上 戴上", "脱下 摘下"},
};

struct Particle {
  std::string_view verbs, particle, effects;
};

inline constexpr Particle kParticles[] = {
    {"turn switch power put leave keep come go", "on", "+switch"},
    {"turn switch power shut", "off", "-switch"},
    {"shut power", "down", "-switch"},
    {"log sign", "in", "+login"},
    {"log sign", "on", "+login"},
    {"log sign", "out", "-login"},
    {"log sign", "off", "-login"},
    {"check", "in", "+enter"},
    {"check", "out", "-enter"},
    {"opt", "in", "+book"},
    {"opt", "out", "-book"},
    {"turn go speed move scroll crank", "up", "+amount"},
    {"turn go slow move scroll", "down", "-amount"},
    {"zoom", "in", "+amount"},
    {"zoom", "out", "-amount"},
};

inline constexpr std::string_view kNegations =
    "不 没 没有 未 勿 甭 别 无法 无需 无须 无权 毫无 并无 失败 "
    "not no never without none nothing nobody nowhere neither nor cannot cant wont dont doesnt didnt isnt arent wasnt "
    "werent couldnt shouldnt wouldnt hasnt havent hadnt aint unable fail fails failed failing failure";

// Words that hold a negation, an end of a pair or a numeral, and are neither.
inline constexpr std::string_view kNeutral =
    "不好意思 差不多 对不起 不过 不管 不但 不仅 不错 了不起 不断 不久 不客气 不论 不如 不得不 不止 不少 不时 不妨 不料 "
    "不禁 "
    "不然 不锈钢 不动产 不干胶 不知道怎么 不知道如何 不知道怎样 "
    "是否 能否 可否 会否 是不是 能不能 会不会 有没有 要不要 可不可以 "
    "淹没 出没 埋没 未来 别人 别的 别墅 别处 别名 特别 区别 级别 性别 告别 分别 类别 识别 个别 离别 派别 辨别 "
    "鉴别 差别 "
    "无线网 无线网络 "
    "开始 公开 离开 开心 分开 开发 开发票 开票 开具 开车 开会 开店 开学 开奖 开头 开水 开支 开销 召开 避开 开放 开花 "
    "开玩笑 开业 开源 "
    "开盘 开关 开除 开场 开口 开封 开朗 开展 解开 拉开 推开 开证明 开通知 开庭 开药 "
    "关于 关系 关心 相关 有关 无关 机关 关键 关联 海关 闯关 过关 关节 公关 关卡 关照 把关 关税 "
    "多少 大小 左右 买卖 外卖 男女 上下 前后 冷静 冷门 热门 热线 热点 热爱 珍贵 宝贵 贵重 贵姓 贵宾 贵公司 尊贵 "
    "一下 一直 一起 一般 一定 一些 统一 唯一 一旦 万一 一边 同一 一共 一切 一会 一会儿 一律 一致 一并 一度 一块儿 "
    "十分 百度 千万 十足 二维码 二手 三星 四川 五金 九江 七夕 八卦 二次元 三明治 四季 五官 万能 百货 百科 千里马 十字 "
    "小时候 一卡通 "
    "or_not whether_or_not not_only no_matter no_doubt not_sure_how don't_know_how do_not_know_how dont_know_how "
    "why_not "
    "no_problem right_now at_first best_way next_to all_right like_to would_like feel_like look_like "
    "looks_like link_to";

struct Token {
  std::string_view words, token;
};

inline constexpr Token kTokens[] = {
    {"今天 今日 今儿 today", "=day+0"},
    {"明天 明日 tomorrow", "=day+1"},
    {"后天", "=day+2"},
    {"大后天", "=day+3"},
    {"昨天 昨日 yesterday", "=day-1"},
    {"前天", "=day-2"},
    {"今晚 tonight", "=day+0 =night"},
    {"明晚", "=day+1 =night"},
    {"昨晚", "=day-1 =night"},
    {"明早", "=day+1 =am"},
    {"周一 星期一 礼拜一 monday", "=w1"},
    {"周二 星期二 礼拜二 tuesday", "=w2"},
    {"周三 星期三 礼拜三 wednesday", "=w3"},
    {"周四 星期四 礼拜四 thursday", "=w4"},
    {"周五 星期五 礼拜五 friday", "=w5"},
    {"周六 星期六 礼拜六 saturday", "=w6"},
    {"周日 周天 星期日 星期天 礼拜天 礼拜日 sunday", "=w7"},
    {"周末 weekend", "=w67"},
    {"工作日 weekday", "=w15"},
    {"这周 本周 这个星期 this_week", "=week+0"},
    {"上周 上星期 上个星期 last_week", "=week-1"},
    {"下周 下星期 下个星期 next_week", "=week+1"},
    {"这个月 本月 this_month", "=month+0"},
    {"上个月 上月 last_month", "=month-1"},
    {"下个月 下月 next_month", "=month+1"},
    {"今年 this_year", "=year+0"},
    {"去年 last_year", "=year-1"},
    {"明年 next_year", "=year+1"},
    {"january jan", "=m1"},
    {"february feb", "=m2"},
    {"march", "=m3"},
    {"april", "=m4"},
    {"june", "=m6"},
    {"july", "=m7"},
    {"august", "=m8"},
    {"september", "=m9"},
    {"october", "=m10"},
    {"november", "=m11"},
    {"december", "=m12"},
    {"上午 早上 早晨 清晨 凌晨 morning", "=am"},
    {"下午 afternoon", "=pm"},
    {"晚上 夜里 夜间 傍晚 evening night", "=night"},
    {"中午 noon", "=noon"},
    {"半夜 午夜 midnight", "=midnight"},
};

}  // namespace hengshi::text
