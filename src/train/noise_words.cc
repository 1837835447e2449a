// noise_words.cc — word lists of our own for noise_tables.h.

#include "train/noise_tables.h"

namespace hengshi::train {

std::string_view borrowed_words() {
  return "邮件=email 邮箱=email 短信=message 消息=message 应用=app 软件=app 视频=video 音乐=music 歌单=playlist "
         "歌曲=song "
         "播客=podcast 会议=meeting 开会=meeting 项目=project 密码=password 账号=account 账户=account 帐号=account "
         "帐户=account 订单=order 快递=express 包裹=package 折扣=discount 打折=discount 优惠券=coupon 会员=vip "
         "电影=movie 照片=photo 图片=picture 咖啡=coffee 聚会=party 派对=party 酒店=hotel 出租车=taxi 打车=taxi "
         "信用卡=creditcard 新闻=news 闹钟=alarm 日程=schedule 日历=calendar 列表=list 清单=list 名单=list 价格=price "
         "你好=hello 谢谢=thanks 再见=bye 好的=ok 更新=update 链接=link 文件=file 退款=refund 套餐=plan 流量=data "
         "网络=wifi 无线网=wifi 客服=service 音量=volume 笔记=note 备忘录=memo 电脑=computer 手机=phone 食谱=recipe "
         "外卖=delivery 票=ticket 机票=ticket 游戏=game 收音机=radio 广播=radio 发票=invoice 账单=bill 团队=team "
         "老板=boss 面试=interview 计划=plan 反馈=feedback 验证码=code 登录=login 用户=user 设置=setting";
}

std::string_view spoken_fillers(text::Language language) {
  return language == text::Language::kChinese
             ? "嗯 那个 呃 啊 就是 这个 然后 就是说 额 哎 嗯嗯 那什么 请问一下 我想问下"
             : "um uh like well so hmm er erm you_know i_mean okay kind_of actually basically";
}

std::string_view misheard_words() {
  return "there/their/they're your/you're to/too buy/by/bye here/hear right/write weather/whether meet/meat week/weak "
         "wait/weight plane/plain our/hour new/knew sea/see whole/hole peace/piece sale/sail cell/sell fare/fair "
         "brake/break which/witch would/wood past/passed aloud/allowed road/rode read/red blue/blew night/knight "
         "through/threw wear/where/ware way/weigh cash/cache check/cheque then/than affect/effect accept/except "
         "lose/loose quiet/quite advice/advise its/it's mail/male pair/pear/pare sent/cent/scent "
         "site/sight/cite some/sum sun/son tail/tale time/thyme waste/waist board/bored course/coarse "
         "flour/flower great/grate guest/guessed heal/heel higher/hire hi/high made/maid main/mane "
         "missed/mist morning/mourning order/odor prophet/profit rain/reign/rein rest/wrest root/route seen/scene "
         "steal/steel stationary/stationery tide/tied vary/very wine/whine card/cart bill/build want/won't/wont "
         "light/lite lights/lites thank/tank think/sink sheet/seat live/leave list/least ship/sheep";
}

std::string_view neighbouring_keys() {
  return "qwa wqes ewrd retf rtyf tygr yuht uiyj ioku opil pol aqsz sadw dsfe fdgr gfht hgjy jhku kjli lko zxas xzcd "
         "cxvf vcbg bvnh nbmj mnk";
}

}  // namespace hengshi::train
